// Tails are searched for together: one search of an object answers all tails of its kind, and the
// answers are kept as bit sets.
#include "tails.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace crosscut::query {

namespace {

std::uint64_t scramble(std::uint64_t key) {
  key *= 0x9E3779B97F4A7C15ull;
  return key ^ (key >> 32);
}

}  // namespace

Tails::Place Tails::place(std::int32_t component) {
  const auto at = static_cast<std::size_t>(component);
  if (placed_.size() < components_.size()) {
    placed_.resize(components_.size(), 0);
    places_.resize(components_.size());
  }
  if (placed_[at]) return places_[at];
  placed_[at] = 1;
  const Component own = components_[component];
  if (own.parent < 0 || own.joins || own.prefix == own.code.size()) return places_[at];
  return places_[at] = place(own.code.subspan(own.prefix), components_[own.parent].types);
}

Tails::Place Tails::place(std::span<const Term> added, std::span<const std::int32_t> types,
                          std::size_t second) {
  code_.assign(added.begin(), added.end());
  renamed_.assign(types.size(), -1);
  std::int32_t on = -1, other = -1, n_variables = second > 0 ? 2 : 1;
  // whether it is on one variable of each component only, and every literal shares one with those
  // before it
  bool single = true;
  for (std::size_t i = 0, n; i < code_.size(); i += n) {
    n = components_.length(code_[i]);
    bool joined = false;
    const std::int32_t n_known = n_variables, other_before = other;
    components_.rename(std::span(code_).subspan(i, n), [&](std::int32_t v) {
      if (renamed_.size() <= static_cast<std::size_t>(v))
        renamed_.resize(static_cast<std::size_t>(v) + 1, -1);
      auto& name = renamed_[static_cast<std::size_t>(v)];
      if (static_cast<std::size_t>(v) < types.size()) {
        const bool is_first = on < 0 || on == v;
        if (!is_first)
          single =
              single && second > 0 && (other < 0 || other == v) &&
              (static_cast<std::size_t>(v) < second) != (static_cast<std::size_t>(on) < second);
        (is_first ? on : other) = v;
        name = is_first ? 0 : 1;
      } else if (name < 0) {
        name = n_variables++;
      }
      joined = joined || (name < n_known && (name != 1 || second == 0 || other_before >= 0));
      return name;
    });
    single = single && joined;
    // facts say which objects are linked
    if (other_before < 0 && other >= 0)
      single = single && !(code_[i] & 1) &&
               facts_.predicates()[static_cast<std::size_t>(code_[i] >> 1)].relation >= 0;
  }
  if (on < 0 || !single || (second > 0 && other < 0)) return {};
  const std::int32_t own_kind = kind(types[static_cast<std::size_t>(on)],
                                     second > 0 ? types[static_cast<std::size_t>(other)] : no_type);
  return {on, own_kind,
          number(*kinds_[static_cast<std::size_t>(own_kind)], code_,
                 static_cast<std::size_t>(n_variables)),
          other};
}

Endings::Endings(std::span<const Tails::Place> places) : n_queries(places.size()) {
  // linked tails on two variables: searching for them takes less than finding the objects of both
  constexpr std::size_t few = 3;
  const auto same = [&](const Tails::Place& a) {
    return std::count_if(places.begin(), places.end(), [&](const Tails::Place& b) {
      return a.variable == b.variable && a.linked == b.linked;
    });
  };
  std::vector<std::size_t> order;
  for (std::size_t q = 0; q < places.size(); q++)
    (places[q].tail < 0 ||
             (places[q].linked >= 0 && static_cast<std::size_t>(same(places[q])) <= few)
         ? others
         : order)
        .push_back(q);
  const auto key = [&](std::size_t q) {
    return std::tuple(places[q].variable, places[q].linked, places[q].tail, q);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  for (const std::size_t q : order) {
    const Tails::Place& place = places[q];
    if (on.empty() || on.back().variable != place.variable || on.back().linked != place.linked)
      on.push_back({place.variable, place.kind, place.linked, {}, {}});
    links = links || place.linked >= 0;
    auto& [variable, kind, linked, asked, runs] = on.back();
    const std::size_t word = static_cast<std::size_t>(place.tail) / 64;
    const std::int32_t shift = place.tail % 64;
    asked.resize(word + 1, 0);
    asked[word] |= std::uint64_t{1} << shift;
    if (!runs.empty() && runs.back().word == word &&
        runs.back().shift + runs.back().length == shift &&
        runs.back().query + static_cast<std::size_t>(runs.back().length) == q)
      runs.back().length++;
    else runs.push_back({word, q, shift, 1});
  }
}

std::int32_t Tails::kind(std::int32_t type, std::int32_t linked) {
  auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& each) {
    return each->type == type && each->linked == linked;
  });
  if (found == kinds_.end())
    found = kinds_.insert(found, std::make_unique<Kind>(facts_, components_, type, linked));
  return static_cast<std::int32_t>(found - kinds_.begin());
}

std::int32_t Tails::number(Kind& kind, const Code& code, std::size_t n_variables) {
  const auto hash_of = [](const Code& of) {
    std::uint64_t h = of.size();
    for (Term t : of) h = scramble(h ^ static_cast<std::uint32_t>(t));
    return h;
  };
  kind.table.reserve(kind.codes.size(), [&](std::int32_t tail) {
    return hash_of(kind.codes[static_cast<std::size_t>(tail)]);
  });
  std::int32_t& tail = kind.table.find(hash_of(code), [&](std::int32_t known) {
    return kind.codes[static_cast<std::size_t>(known)] == code;
  });
  if (tail >= 0) return tail;
  tail = static_cast<std::int32_t>(kind.codes.size());
  kind.codes.push_back(code);
  std::vector<char> bound(n_variables, 0);
  bound[0] = 1;
  kind.pack.reserve_variables(n_variables);
  std::int32_t step = 0;
  for (std::size_t i = 0; i < code.size(); i += components_.length(code[i]))
    step = kind.pack.add(step, code.data() + i, bound);
  kind.pack.end(tail, step);
  kind.opened.clear();
  kind.all.resize((kind.codes.size() + 63) / 64, 0);
  kind.all.back() |= std::uint64_t{1} << tail % 64;
  if (kind.codes.size() <= 64 * kind.words) return tail;
  std::vector<std::uint64_t> rows(2 * kind.rows.size(), 0);
  for (std::size_t half = 0; half < 2 * kind.keys.size(); half++)
    std::copy_n(kind.rows.data() + half * kind.words, kind.words,
                rows.data() + 2 * half * kind.words);
  kind.rows = std::move(rows);
  kind.words *= 2;
  return tail;
}

std::int32_t Tails::object(std::int32_t number_of_kind, std::size_t example, std::int32_t value) {
  Kind& kind = *kinds_[static_cast<std::size_t>(number_of_kind)];
  const std::uint64_t key = example << 32 | static_cast<std::uint32_t>(value);
  kind.objects.reserve(kind.keys.size(), [&](std::int32_t each) {
    return scramble(kind.keys[static_cast<std::size_t>(each)]);
  });
  std::int32_t& object = kind.objects.find(scramble(key), [&](std::int32_t each) {
    return kind.keys[static_cast<std::size_t>(each)] == key;
  });
  if (object >= 0) return object;
  kind.rows.resize((kind.keys.size() + 1) * 2 * kind.words, 0);
  kind.keys.push_back(key);
  bytes_ += 8 * (2 * kind.words + 2);
  return object = static_cast<std::int32_t>(kind.keys.size()) - 1;
}

const std::uint64_t* Tails::found(std::int32_t number_of_kind, std::int32_t object,
                                  std::span<const std::uint64_t> asked) {
  Kind& kind = *kinds_[static_cast<std::size_t>(number_of_kind)];
  const std::uint64_t* known = kind.rows.data() + static_cast<std::size_t>(object) * 2 * kind.words;
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < asked.size(); w++) any |= asked[w] & ~known[w];
  if (any) search(kind, object);
  return known + kind.words;
}

// Searches for all tails that are not known for an object.
void Tails::search(Kind& kind, std::int32_t object) {
  std::uint64_t* known = kind.rows.data() + static_cast<std::size_t>(object) * 2 * kind.words;
  std::uint64_t* held = known + kind.words;
  bool same = kind.opened.size() == kind.all.size();
  for (std::size_t w = 0; same && w < kind.all.size(); w++)
    same = (kind.all[w] & ~known[w]) == kind.opened[w];
  if (same) {
    kind.pack.restore();
  } else {
    kind.pack.close_all();
    kind.opened.resize(kind.all.size());
    for (std::size_t w = 0; w < kind.all.size(); w++) {
      kind.opened[w] = kind.all[w] & ~known[w];
      for (std::uint64_t set = kind.opened[w]; set; set &= set - 1)
        kind.pack.open(
            static_cast<std::int32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(set))));
    }
    kind.pack.save();
  }
  const std::uint64_t key = kind.keys[static_cast<std::size_t>(object)];
  kind.pack.set(0, static_cast<std::int32_t>(key & 0xFFFFFFFF));
  Effort effort{key >> 32, facts_.fixed_of(key >> 32), limit_};
  for (std::int32_t tail : kind.pack.search(effort))
    held[tail / 64] |= std::uint64_t{1} << tail % 64;
  for (std::size_t w = 0; w < kind.all.size(); w++) known[w] |= kind.all[w];
  steps_ += effort.taken;
  if (kind.pack.given_up().empty()) return;
  auto& over = kind.given_up[object];
  over.resize(kind.words, 0);
  for (std::int32_t tail : kind.pack.given_up())
    over[static_cast<std::size_t>(tail / 64)] |= std::uint64_t{1} << tail % 64;
}

Tails::Links Tails::links(std::int32_t number_of_kind, std::size_t example, std::int32_t value) {
  const std::int32_t at = object(number_of_kind, example, value);
  Kind& kind = *kinds_[static_cast<std::size_t>(number_of_kind)];
  if (kind.own.size() < kind.keys.size()) kind.own.resize(kind.keys.size());
  if (kind.own[static_cast<std::size_t>(at)].n_tails < kind.codes.size()) search_links(kind, at);
  const Kind::Own& own = kind.own[static_cast<std::size_t>(at)];
  return {std::span(kind.linked_objects).subspan(own.begin, own.end - own.begin),
          kind.linked_held.data() + own.held, given_up(number_of_kind, at)};
}

void Tails::search_links(Kind& kind, std::int32_t object) {
  const std::size_t words = kind.all.size();
  if (kind.opened == kind.all) {
    kind.pack.restore();
  } else {
    kind.pack.close_all();
    for (std::size_t tail = 0; tail < kind.codes.size(); tail++)
      kind.pack.open(static_cast<std::int32_t>(tail));
    kind.pack.save();
    kind.opened = kind.all;
  }
  const std::uint64_t key = kind.keys[static_cast<std::size_t>(object)];
  kind.pack.set(0, static_cast<std::int32_t>(key & 0xFFFFFFFF));
  Effort effort{key >> 32, facts_.fixed_of(key >> 32), limit_};
  reports_ = kind.pack.solutions(effort, 1);
  steps_ += effort.taken;
  std::sort(reports_.begin(), reports_.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  Kind::Own& own = kind.own[static_cast<std::size_t>(object)];
  own = {kind.linked_objects.size(), 0, kind.linked_held.size(), kind.codes.size()};
  kind.given_up.erase(object);
  if (!kind.pack.given_up().empty()) {
    auto& over = kind.given_up[object];
    over.assign(words, 0);
    for (std::int32_t tail : kind.pack.given_up())
      over[static_cast<std::size_t>(tail / 64)] |= std::uint64_t{1} << tail % 64;
    std::erase_if(reports_, [&](const auto& each) {
      return over[static_cast<std::size_t>(each.first) / 64] >> each.first % 64 & 1;
    });
  }
  const std::int32_t other_kind = this->kind(kind.linked);
  for (std::size_t i = 0; i < reports_.size(); i++) {
    const auto [tail, value] = reports_[i];
    if (i == 0 || value != reports_[i - 1].second) {
      kind.linked_objects.push_back(this->object(other_kind, key >> 32, value));
      kind.linked_held.resize(kind.linked_held.size() + words, 0);
    }
    kind.linked_held[kind.linked_held.size() - words + static_cast<std::size_t>(tail) / 64] |=
        std::uint64_t{1} << tail % 64;
  }
  own.end = kind.linked_objects.size();
  bytes_ += (own.end - own.begin) * (8 * words + sizeof(std::int32_t)) + sizeof(Kind::Own);
}

const std::vector<std::uint64_t>* Tails::given_up(std::int32_t number_of_kind,
                                                  std::int32_t object) const {
  const Kind& kind = *kinds_[static_cast<std::size_t>(number_of_kind)];
  if (kind.given_up.empty()) return nullptr;
  const auto found = kind.given_up.find(object);
  return found == kind.given_up.end() ? nullptr : &found->second;
}

void Tails::forget() {
  for (auto& kind : kinds_) {
    kind->keys = {};
    kind->rows = {};
    kind->objects = {};
    kind->given_up.clear();
    kind->own = {};
    kind->linked_objects = {};
    kind->linked_held = {};
  }
  bytes_ = 0;
}

}  // namespace crosscut::query

#include "tails.hpp"

#include <algorithm>
#include <bit>

namespace crosscut::query {

namespace {

constexpr std::uint64_t free_slot = ~std::uint64_t{0};
constexpr std::size_t most_words = std::size_t{1} << 25;  // kept per kind; beyond that objects are forgotten

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
  const std::size_t n_before = components_[own.parent].types.size();
  code_.assign(own.code.begin() + static_cast<std::ptrdiff_t>(own.prefix), own.code.end());
  renamed_.assign(own.types.size(), -1);
  std::int32_t on = -1, n_variables = 1;
  bool single = true;  // whether it is on one variable only
  components_.rename(code_, [&](std::int32_t v) {
    auto& name = renamed_[static_cast<std::size_t>(v)];
    if (static_cast<std::size_t>(v) < n_before) {
      single = single && (on < 0 || on == v);
      on = v;
      name = 0;
    } else if (name < 0) {
      name = n_variables++;
    }
    return name;
  });
  if (on < 0 || !single) return places_[at];
  const std::int32_t type = own.types[static_cast<std::size_t>(on)];
  auto kind = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& k) { return k->type == type; });
  if (kind == kinds_.end()) {
    kinds_.push_back(std::make_unique<Kind>(facts_, components_, type));
    kind = kinds_.end() - 1;
  }
  places_[at] = {on, static_cast<std::int32_t>(kind - kinds_.begin()), number(**kind, code_, static_cast<std::size_t>(n_variables))};
  return places_[at];
}

std::int32_t Tails::number(Kind& kind, const Code& code, std::size_t n_variables) {
  const auto hash_of = [](const Code& of) {
    std::uint64_t h = of.size();
    for (Term t : of) h = scramble(h ^ static_cast<std::uint32_t>(t));
    return h;
  };
  kind.table.reserve(kind.codes.size(), [&](std::int32_t tail) { return hash_of(kind.codes[static_cast<std::size_t>(tail)]); });
  std::int32_t& tail = kind.table.find(hash_of(code), [&](std::int32_t known) { return kind.codes[static_cast<std::size_t>(known)] == code; });
  if (tail >= 0) return tail;
  tail = static_cast<std::int32_t>(kind.codes.size());
  kind.codes.push_back(code);
  std::vector<char> bound(n_variables, 0);
  bound[0] = 1;
  kind.pack.reserve_variables(n_variables);
  std::int32_t step = 0;
  for (std::size_t i = 0; i < code.size(); i += components_.length(code[i])) step = kind.pack.add(step, code.data() + i, bound);
  kind.pack.end(tail, step);
  kind.opened.clear();
  kind.all.resize((kind.codes.size() + 63) / 64, 0);
  kind.all.back() |= std::uint64_t{1} << tail % 64;
  if (kind.codes.size() > 64 * kind.words) rehash(kind, kind.keys.size(), 2 * kind.words);
  return tail;
}

void Tails::rehash(Kind& kind, std::size_t n_slots, std::size_t words) {
  std::vector<std::uint64_t> keys(n_slots, free_slot), rows(n_slots * 2 * words, 0);
  for (std::size_t s = 0; s < kind.keys.size(); s++) {
    if (kind.keys[s] == free_slot) continue;
    std::size_t slot = scramble(kind.keys[s]) & (n_slots - 1);
    while (keys[slot] != free_slot) slot = (slot + 1) & (n_slots - 1);
    keys[slot] = kind.keys[s];
    for (std::size_t half = 0; half < 2; half++)
      std::copy_n(kind.rows.data() + (2 * s + half) * kind.words, kind.words, rows.data() + (2 * slot + half) * words);
  }
  kind.keys = std::move(keys);
  kind.rows = std::move(rows);
  kind.words = words;
}

std::uint64_t* Tails::row(Kind& kind, std::size_t example, std::int32_t value) {
  if (2 * kind.n_objects + 2 > kind.keys.size()) {
    const std::size_t n_slots = std::max<std::size_t>(256, 2 * kind.keys.size());
    if (2 * n_slots * kind.words > most_words) {
      kind.keys.clear();
      kind.n_objects = 0;
    }
    rehash(kind, kind.keys.empty() ? 256 : n_slots, kind.words);
  }
  const std::uint64_t key = example << 32 | static_cast<std::uint32_t>(value);
  std::size_t slot = scramble(key) & (kind.keys.size() - 1);
  while (kind.keys[slot] != key && kind.keys[slot] != free_slot) slot = (slot + 1) & (kind.keys.size() - 1);
  kind.n_objects += kind.keys[slot] == free_slot;
  kind.keys[slot] = key;
  return kind.rows.data() + 2 * slot * kind.words;
}

std::span<const std::uint64_t> Tails::found(std::int32_t number_of_kind, Effort& effort, std::int32_t value,
                                            std::span<const std::uint64_t> asked) {
  Kind& kind = *kinds_[static_cast<std::size_t>(number_of_kind)];
  std::uint64_t* known = row(kind, effort.example, value);
  std::uint64_t* held = known + kind.words;
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < asked.size(); w++) any |= asked[w] & ~known[w];
  if (any) {
    if (!effort.alone) asked = kind.all;
    bool same = kind.opened.size() == asked.size();
    for (std::size_t w = 0; same && w < asked.size(); w++) same = (asked[w] & ~known[w]) == kind.opened[w];
    if (same) {
      kind.pack.restore();
    } else {
      kind.pack.close_all();
      kind.opened.resize(asked.size());
      for (std::size_t w = 0; w < asked.size(); w++) {
        kind.opened[w] = asked[w] & ~known[w];
        for (std::uint64_t set = kind.opened[w]; set; set &= set - 1)
          kind.pack.open(static_cast<std::int32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(set))));
      }
      kind.pack.save();
    }
    kind.pack.set(0, value);
    for (std::int32_t tail : kind.pack.search(effort)) {
      const std::uint64_t bit = std::uint64_t{1} << tail % 64;
      held[tail / 64] |= bit;
      known[tail / 64] |= bit;
    }
    // a search that was stopped refutes nothing
    if (!effort.over)
      for (std::size_t w = 0; w < asked.size(); w++) known[w] |= asked[w];
  }
  return {held, asked.size()};
}

void Tails::forget() {
  for (auto& kind : kinds_) {
    kind->keys.clear();
    kind->rows.clear();
    kind->n_objects = 0;
  }
}

}  // namespace crosscut::query

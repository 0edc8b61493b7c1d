// Queries are grouped by the component that they extend and searched as one pack per group. Tails
// and known objects answer many of them without a search.
#include "truth.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace crosscut::query {

void Truth::forget_rows() {
  for (std::int32_t query : remembered_) {
    slots_[static_cast<std::size_t>(query)] = -1;
    known_[static_cast<std::size_t>(query)] = 0;
  }
  remembered_.clear();
  truth_.clear();
  sets_.clear();
}

void Truth::forget() {
  forget_rows();
  std::fill(numbers_.begin(), numbers_.end(), -1);
  tabulated_ = 0;
  tails_.forget();
  solutions_.forget();
  packs_.clear();
}

void Truth::add(const Truth& other, Components& own, const Components& theirs) {
  steps_ += other.n_steps();
  evaluations_ += other.n_evaluations();
  for (const auto& [query, example] : other.hits_) hits_.emplace(own.same(theirs, query), example);
}

void Truth::abandon() {
  std::fill(asked_.begin(), asked_.end(), char{0});
  forget();
}

void Truth::evaluate(std::span<const std::int32_t> queries, const std::uint64_t* mask,
                     std::int32_t after) {
  slots_.resize(components_.size(), -1);
  known_.resize(components_.size(), 0);
  asked_.resize(components_.size(), 0);
  // What is known before this call decides what must be searched; nothing is written before. (The
  // buffers are reused between calls; a nested call makes its own.)
  std::vector<Need> needs = std::move(needs_), conjunctions = std::move(conjunctions_);
  needs.clear();
  conjunctions.clear();
  std::int32_t last = -1;
  std::int32_t open = 0;
  std::int32_t then = 0;  // most queries of a call are known on the same examples
  for (std::int32_t q : queries) {
    const auto at = static_cast<std::size_t>(q);
    if (asked_[at]) continue;
    if (known_[at] != last) {
      last = known_[at];
      std::tie(open, then) = sets_.add(last, mask);
    }
    if (open == 0) continue;
    if (last == 0) remembered_.push_back(q);
    if (slots_[at] < 0) {
      slots_[at] = static_cast<std::int32_t>(truth_.size() / words_);
      truth_.resize(truth_.size() + words_, 0);
    }
    asked_[at] = 1;
    const Component component = components_[q];
    (component.parts.empty() ? needs : conjunctions).push_back({component.parent, q, open, then});
  }
  // queries of one pack that are needed on the same examples are searched for together
  const auto before = [](const Need& a, const Need& b) {
    return std::tie(a.parent, a.open, a.query) < std::tie(b.parent, b.open, b.query);
  };
  if (!std::is_sorted(needs.begin(), needs.end(), before))
    std::sort(needs.begin(), needs.end(), before);
  for (std::size_t begin = 0; begin < needs.size();) {
    std::size_t end = begin + 1;
    while (end < needs.size() && needs[end].parent == needs[begin].parent &&
           needs[end].open == needs[begin].open)
      end++;
    evaluate_extensions(std::span(needs).subspan(begin, end - begin), after);
    begin = end;
  }
  for (const Need& need : needs) {
    asked_[static_cast<std::size_t>(need.query)] = 0;
    known_[static_cast<std::size_t>(need.query)] = need.then;
  }
  for (const Need& need : conjunctions) {
    const auto at = static_cast<std::size_t>(need.query);
    asked_[at] = 0;
    const auto parts = components_[need.query].parts;
    evaluate(parts, mask);  // a part alone need not extend `after`
    known_[at] = need.then;
    for (std::size_t w = 0; w < words_; w++) {
      std::uint64_t all = sets_[need.open][w];
      for (std::int32_t part : parts) all &= row(part)[w];
      writable(need.query)[w] |= all;
    }
  }
  needs_ = std::move(needs);
  conjunctions_ = std::move(conjunctions);
}

void Truth::tabulate(const Asked& asked, std::span<const std::int32_t> all, TruthTable& table) {
  const std::size_t width = (asked.endings.n_queries + 63) / 64;
  if (table.rows.empty()) {
    table.rows.resize(words_ * 64, -1);
    tabulated_ += table.bytes();
  }
  std::vector<std::int32_t> examples;
  const std::size_t first = table.bits.size() / width;
  for (const std::int32_t each : all)
    if (table.rows[static_cast<std::size_t>(each)] < 0) examples.push_back(each);
  if (examples.empty()) return;
  std::vector<std::uint64_t> fresh(words_);
  for (const std::int32_t each : examples)
    fresh[static_cast<std::size_t>(each) / 64] |= std::uint64_t{1} << each % 64;
  tabulated_ += examples.size() * width * 8;
  table.bits.resize((first + examples.size()) * width, 0);
  tabulate(asked, examples, table.bits.data() + first * width);
  std::vector<std::int32_t> queries;
  for (const std::size_t each : asked.endings.others) queries.push_back(asked.number(each));
  if (!queries.empty() && asked.after >= 0) evaluate({&asked.after, 1}, fresh.data());
  evaluate(queries, fresh.data(), asked.after);
  for (std::size_t i = 0; i < examples.size(); i++)
    table.rows[static_cast<std::size_t>(examples[i])] = static_cast<std::int32_t>(first + i);
  for (std::size_t i = 0; i < queries.size(); i++) {
    const std::uint64_t* own = row(queries[i]);
    const std::size_t q = asked.endings.others[i];
    for (std::size_t w = 0; w < words_; w++)
      for (std::uint64_t set = own[w] & fresh[w]; set; set &= set - 1) {
        const std::size_t e = w * 64 + static_cast<std::size_t>(std::countr_zero(set));
        table.bits[static_cast<std::size_t>(table.rows[e]) * width + q / 64] |= std::uint64_t{1}
                                                                                << q % 64;
      }
  }
}

// The pack of the components that extend `parent`, with these queries in it.
Truth::Extensions& Truth::pack_of(std::int32_t parent, std::span<const Need> needs) {
  auto& slot = packs_[parent];
  if (!slot) {
    slot = std::make_unique<Extensions>(facts_, components_);
    slot->pack.reserve(needs.size());
    if (parent >= 0) {
      const Component component = components_[parent];
      slot->bound.assign(component.types.size(), 0);
      for (std::size_t i = 0; i < component.code.size(); i += components_.length(component.code[i]))
        slot->trunk = slot->pack.add(slot->trunk, component.code.data() + i, slot->bound);
    }
  }
  numbers_.resize(components_.size(), -1);
  for (const Need& need : needs) {
    std::int32_t& number = numbers_[static_cast<std::size_t>(need.query)];
    if (number >= 0) continue;
    number = static_cast<std::int32_t>(slot->queries.size());
    slot->chosen.clear();
    slot->queries.push_back(need.query);
    const Component component = components_[need.query];
    slot->pack.reserve_variables(component.types.size());
    bound_ = slot->bound;
    bound_.resize(component.types.size(), 0);
    std::int32_t step = slot->trunk;
    for (std::size_t i = component.prefix; i < component.code.size();
         i += components_.length(component.code[i]))
      step = slot->pack.add(step, component.code.data() + i, bound_);
    slot->pack.end(number, step);
  }
  return *slot;
}

// Saves a choice of queries in the pack; it is usually the same as last time.
void Truth::Extensions::choose(std::span<const Need> needs, std::span<const std::int32_t> numbers) {
  const auto same = [](std::int32_t query, const Need& need) { return query == need.query; };
  if (std::equal(chosen.begin(), chosen.end(), needs.begin(), needs.end(), same)) return;
  chosen.clear();
  for (const Need& need : needs) {
    chosen.push_back(need.query);
    pack.open(numbers[static_cast<std::size_t>(need.query)]);
  }
  pack.save();
}

// Queries that extend the same component, all on the same examples.
void Truth::evaluate_extensions(std::span<const Need> all, std::int32_t after) {
  const std::int32_t parent = all[0].parent;
  std::vector<Need> needs, tails;
  for (const Need& need : all) (tails_.place(need.query).tail >= 0 ? tails : needs).push_back(need);
  std::vector<std::int32_t> examples;
  Extensions* extensions = nullptr;
  for (std::size_t w = 0; w < words_; w++) {
    std::uint64_t wanted = sets_[all[0].open][w];
    // a component is false wherever one that it extends is known to be
    for (std::int32_t shorter : {parent, after})
      if (shorter >= 0)
        wanted &= ~sets_[known_[static_cast<std::size_t>(shorter)]][w] | row(shorter)[w];
    for (std::uint64_t set = tails.empty() ? 0 : wanted; set; set &= set - 1)
      examples.push_back(
          static_cast<std::int32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(set))));
    if (needs.empty()) continue;
    if (wanted && extensions == nullptr) {
      extensions = &pack_of(parent, needs);
      extensions->choose(needs, numbers_);
    }
    for (; wanted; wanted &= wanted - 1) {
      extensions->pack.restore();
      facts_.watch.poll();
      evaluations_ += needs.size();
      search(*extensions, w, wanted & -wanted);
    }
  }
  if (!tails.empty()) evaluate_tails(tails, examples);
  if (extensions != nullptr) extensions->pack.close_all();  // as they are between calls
}

// Searches for the pack's open queries on one example.
void Truth::search(Extensions& extensions, std::size_t word, std::uint64_t bit) {
  const auto example =
      static_cast<std::size_t>(order_[word * 64 + static_cast<std::size_t>(std::countr_zero(bit))]);
  Effort effort{example, facts_.fixed_of(example), limit_};
  for (std::int32_t number : extensions.pack.search(effort))
    writable(extensions.queries[static_cast<std::size_t>(number)])[word] |= bit;
  for (std::int32_t number : extensions.pack.given_up())
    hits_.emplace(extensions.queries[static_cast<std::size_t>(number)],
                  static_cast<std::int64_t>(example));
  steps_ += effort.taken;
}

// For queries that end in tails: calls holds(q, bits, number of the example), where bit i says that
// query q + i holds, wherever one does.
template <class Holds>
void Truth::find_tails(const Asked& asked, std::span<const std::int32_t> examples, Holds holds) {
  const auto second = static_cast<std::int32_t>(components_[asked.components[0]].types.size());
  const auto variable = [&](std::int32_t v) {
    return v < second ? Solutions::Variable{asked.components[0], v}
                      : Solutions::Variable{asked.components[1], v - second};
  };
  for (const Endings::On& on : asked.endings.on) {
    if (on.linked < 0) solutions_.find(asked.components[0], on.variable, on.asked, examples, held_);
    else
      solutions_.find_linked(variable(on.variable), variable(on.linked), on.kind, on.asked,
                             examples, held_);
    for (std::size_t e = 0; e < examples.size(); e++)
      for (const Endings::Run& run : on.runs)
        if (const std::uint64_t bits = held_[e * on.asked.size() + run.word]
                                           << (64 - run.length - run.shift) >>
                                       (64 - run.length))
          holds(run.query, bits, e);
    for (const Endings::Run& run : on.runs)
      for (const Solutions::Doubt& doubt : solutions_.doubts())
        for (std::int32_t i = 0; i < run.length; i++)
          if (doubt.tails[run.word] >> (run.shift + i) & 1)
            hits_.emplace(asked.number(run.query + static_cast<std::size_t>(i)),
                          order_[static_cast<std::size_t>(examples[doubt.example])]);
  }
  evaluations_ += (asked.endings.n_queries - asked.endings.others.size()) * examples.size();
}

void Truth::evaluate_tails(std::span<const Need> needs, std::span<const std::int32_t> examples) {
  std::vector<Tails::Place> places;
  for (const Need& need : needs) places.push_back(tails_.place(need.query));
  const Endings endings(places);
  find_tails({{&needs[0].parent, 1}, endings, [&](std::size_t q) { return needs[q].query; }},
             examples, [&](std::size_t query, std::uint64_t bits, std::size_t example) {
               const auto position = static_cast<std::size_t>(examples[example]);
               for (; bits; bits &= bits - 1)
                 writable(needs[query + static_cast<std::size_t>(std::countr_zero(bits))]
                              .query)[position / 64] |= std::uint64_t{1} << position % 64;
             });
}

void Truth::tabulate(const Asked& asked, std::span<const std::int32_t> examples,
                     std::uint64_t* rows) {
  const std::size_t width = (asked.endings.n_queries + 63) / 64;
  if (!asked.endings.on.empty())
    find_tails(asked, examples, [&](std::size_t query, std::uint64_t bits, std::size_t example) {
      std::uint64_t* row = rows + example * width + query / 64;
      row[0] |= bits << query % 64;
      if (const std::uint64_t rest = bits >> 1 >> (63 - query % 64)) row[1] |= rest;
    });
}

}  // namespace crosscut::query

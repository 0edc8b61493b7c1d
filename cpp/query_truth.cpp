#include "query_truth.hpp"

#include <algorithm>
#include <bit>

namespace crosscut::query {

void Truth::forget() {
  std::fill(known_.begin(), known_.end(), 0);
  std::fill(complete_.begin(), complete_.end(), char{0});
  tails_.forget();
}

void Truth::evaluate(std::span<const std::int32_t> queries, const std::uint64_t* mask) {
  truth_.resize(components_.size() * words_, 0);
  known_.resize(components_.size() * words_, 0);
  asked_.resize(components_.size(), 0);
  complete_.resize(components_.size(), 0);
  // What is known before this call decides what has to be searched; only then is anything written.
  // (the buffers are kept between calls; a call from within finds none and makes its own)
  std::vector<Need> needs = std::move(needs_), conjunctions = std::move(conjunctions_);
  std::vector<std::uint64_t> examples = std::move(examples_);
  needs.clear();
  conjunctions.clear();
  examples.clear();
  for (std::int32_t q : queries) {
    if (complete_[static_cast<std::size_t>(q)]) continue;
    const std::size_t at = static_cast<std::size_t>(q) * words_;
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < words_; w++) any |= mask[w] & ~known_[at + w];
    if (!any || asked_[static_cast<std::size_t>(q)]) continue;
    asked_[static_cast<std::size_t>(q)] = 1;
    const Component component = components_[q];
    (component.parts.empty() ? needs : conjunctions).push_back({component.parent, q, examples.size()});
    // a component is false wherever the one it extends is known to be
    const std::size_t parent = static_cast<std::size_t>(std::max(component.parent, 0)) * words_;
    for (std::size_t w = 0; w < words_; w++) {
      const std::uint64_t refuted = component.parent >= 0 ? known_[parent + w] & ~truth_[parent + w] : 0;
      examples.push_back(mask[w] & ~known_[at + w] & ~refuted);
    }
  }
  for (const Need& need : needs) {
    asked_[static_cast<std::size_t>(need.query)] = 0;
    const std::size_t at = static_cast<std::size_t>(need.query) * words_;
    std::uint64_t unknown = 0;
    for (std::size_t w = 0; w < words_; w++) {
      truth_[at + w] &= ~(mask[w] & ~known_[at + w]);
      known_[at + w] |= mask[w];
      unknown |= everything_[w] & ~known_[at + w];
    }
    complete_[static_cast<std::size_t>(need.query)] = unknown == 0;
  }
  std::stable_sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) { return a.parent < b.parent; });
  for (std::size_t begin = 0; begin < needs.size();) {
    std::size_t end = begin + 1;
    while (end < needs.size() && needs[end].parent == needs[begin].parent) end++;
    evaluate_pack(std::span(needs).subspan(begin, end - begin), examples);
    begin = end;
  }
  for (const Need& need : conjunctions) {
    asked_[static_cast<std::size_t>(need.query)] = 0;
    const std::size_t at = static_cast<std::size_t>(need.query) * words_;
    const auto parts = components_[need.query].parts;
    evaluate(parts, examples.data() + need.examples);
    for (std::size_t w = 0; w < words_; w++) {
      const std::uint64_t wanted = examples[need.examples + w];
      std::uint64_t all = wanted;
      for (std::int32_t part : parts) all &= row(part)[w];
      truth_[at + w] = (truth_[at + w] & ~wanted) | all;
      known_[at + w] |= wanted;
    }
  }
  needs_ = std::move(needs);
  conjunctions_ = std::move(conjunctions);
  examples_ = std::move(examples);
}

void Truth::tabulate(std::span<const std::int32_t> queries, const std::uint64_t* mask, TruthTable& table) {
  if (table.width == 0) {
    table.width = (queries.size() + 63) / 64;
    table.known.resize(words_, 0);
    table.bits.resize(words_ * 64 * table.width, 0);
  }
  std::vector<std::uint64_t> fresh(words_);
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words_; w++) {
    fresh[w] = mask[w] & ~table.known[w];
    any |= fresh[w];
  }
  if (!any) return;
  evaluate(queries, fresh.data());
  for (std::size_t q = 0; q < queries.size(); q++)
    for (std::size_t w = 0; w < words_; w++)
      for (std::uint64_t set = row(queries[q])[w] & fresh[w]; set; set &= set - 1) {
        const std::size_t e = w * 64 + static_cast<std::size_t>(std::countr_zero(set));
        table.bits[e * table.width + q / 64] |= std::uint64_t{1} << q % 64;
      }
  for (std::size_t w = 0; w < words_; w++) table.known[w] |= fresh[w];
}

void Truth::build_pack(std::span<const Need> needs) {
  pack_.clear(needs.size());
  std::size_t n_variables = 0;
  for (const Need& need : needs) n_variables = std::max(n_variables, components_[need.query].types.size());
  pack_.reserve_variables(n_variables);
  prefix_bound_.assign(n_variables, 0);
  std::int32_t trunk = 0;
  if (needs[0].parent >= 0) {
    const auto code = components_[needs[0].parent].code;
    for (std::size_t i = 0; i < code.size(); i += components_.length(code[i])) trunk = pack_.add(trunk, code.data() + i, prefix_bound_);
  }
  for (std::size_t q = 0; q < needs.size(); q++) {
    const Tails::Place place = tails_.place(needs[q].query);
    if (place.tail >= 0) {
      pack_.end_with_tail(static_cast<std::int32_t>(q), trunk, place.variable, place.kind, place.tail);
      continue;
    }
    const Component component = components_[needs[q].query];
    bound_ = prefix_bound_;
    std::int32_t step = trunk;
    for (std::size_t i = component.prefix; i < component.code.size(); i += components_.length(component.code[i]))
      step = pack_.add(step, component.code.data() + i, bound_);
    pack_.end(static_cast<std::int32_t>(q), step);
  }
}

void Truth::evaluate_pack(std::span<const Need> needs, const std::vector<std::uint64_t>& examples) {
  bool built = false;
  for (std::size_t w = 0; w < words_; w++) {
    // queries that want some example of this word; most often all of them want the same
    std::uint64_t some = 0, shared = ~std::uint64_t{0};
    active_.clear();
    for (std::size_t q = 0; q < needs.size(); q++) {
      const std::uint64_t wanted = examples[needs[q].examples + w];
      if (wanted == 0) continue;
      active_.push_back({static_cast<std::int32_t>(q), wanted});
      some |= wanted;
      shared &= wanted;
    }
    if (some == 0) continue;
    if (!built) build_pack(needs);
    built = true;
    if (shared) {
      pack_.close_all();
      for (const Active& each : active_) pack_.open(each.query);
      pack_.save();
    }
    for (; some; some &= some - 1) {
      const std::uint64_t bit = some & -some;
      if (shared & bit) {
        pack_.restore();
        evaluations_ += active_.size();
      } else {
        pack_.close_all();
        for (const Active& each : active_)
          if (each.wanted & bit) pack_.open(each.query), evaluations_++;
      }
      search(needs, w, bit);
    }
  }
}

// Looks for the pack's open queries on one example.
void Truth::search(std::span<const Need> needs, std::size_t word, std::uint64_t bit) {
  const auto set = [&](std::int32_t q) {
    truth_[static_cast<std::size_t>(needs[static_cast<std::size_t>(q)].query) * words_ + word] |= bit;
  };
  const auto example = static_cast<std::size_t>(order_[word * 64 + static_cast<std::size_t>(std::countr_zero(bit))]);
  Effort effort{example, facts_.fixed_of(example), limit_};
  for (std::int32_t q : pack_.search(effort)) set(q);
  steps_ += effort.taken;
  if (!effort.over) return;
  // A pack takes at least the steps of each of its queries. Where it passes the limit, the open ones are run alone, so
  // that the limit is one of the query and the example.
  std::vector<std::int32_t> undecided;
  for (const Active& each : active_)
    if (pack_.is_open(each.query)) undecided.push_back(each.query);
  for (std::int32_t q : undecided) {
    pack_.close_all();
    pack_.open(q);
    Effort own{example, facts_.fixed_of(example), limit_};
    own.alone = true;
    for (std::int32_t found : pack_.search(own)) set(found);
    steps_ += own.taken;
    if (own.over && pack_.is_open(q)) hits_.push_back({needs[static_cast<std::size_t>(q)].query, static_cast<std::int64_t>(example)});
  }
}

}  // namespace crosscut::query

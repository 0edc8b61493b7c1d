#include "query_truth.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace crosscut::query {

void Truth::forget() {
  std::fill(known_.begin(), known_.end(), 0);
}

void Truth::evaluate(std::span<const std::int32_t> queries, const std::uint64_t* mask) {
  truth_.resize(components_.size() * words_, 0);
  known_.resize(components_.size() * words_, 0);
  // What is known before this call decides what has to be searched; only then is anything written.
  std::map<std::int32_t, std::vector<Need>> packs;
  std::vector<Need> conjunctions;
  std::vector<std::uint64_t> missing(words_);
  asked_.resize(components_.size(), false);
  for (std::int32_t q : queries) {
    const std::size_t at = static_cast<std::size_t>(q) * words_;
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < words_; w++) any |= missing[w] = mask[w] & ~known_[at + w];
    if (!any || asked_[static_cast<std::size_t>(q)]) continue;
    asked_[static_cast<std::size_t>(q)] = true;
    const Component& component = components_[q];
    auto& needs = component.parts.empty() ? packs[component.parent] : conjunctions;
    needs.push_back({q, missing});
    // a component is false wherever the one it extends is known to be
    const auto parent = static_cast<std::size_t>(std::max(component.parent, 0)) * words_;
    if (component.parent >= 0)
      for (std::size_t w = 0; w < words_; w++) needs.back().examples[w] &= ~(known_[parent + w] & ~truth_[parent + w]);
  }
  for (std::int32_t q : queries) {
    if (!asked_[static_cast<std::size_t>(q)] || !components_[q].parts.empty()) continue;
    asked_[static_cast<std::size_t>(q)] = false;
    const std::size_t at = static_cast<std::size_t>(q) * words_;
    for (std::size_t w = 0; w < words_; w++) {
      truth_[at + w] &= ~(mask[w] & ~known_[at + w]);
      known_[at + w] |= mask[w];
    }
  }
  for (const auto& [parent, needs] : packs) evaluate_pack(parent, needs);
  for (const Need& need : conjunctions) {
    const std::size_t at = static_cast<std::size_t>(need.query) * words_;
    asked_[static_cast<std::size_t>(need.query)] = false;
    const auto& parts = components_[need.query].parts;
    evaluate(parts, need.examples.data());
    for (std::size_t w = 0; w < words_; w++) {
      std::uint64_t all = need.examples[w];
      for (std::int32_t part : parts) all &= row(part)[w];
      truth_[at + w] = (truth_[at + w] & ~need.examples[w]) | all;
      known_[at + w] |= need.examples[w];
    }
  }
}

// Literals with the same code at the same place of the trie are one step: bindings are extended once for all queries.
std::int32_t Truth::add_step(std::int32_t before, const Term* literal, std::vector<bool>& bound) {
  const std::size_t n = components_.length(literal[0]);
  if (before >= 0)
    for (std::int32_t s : pack_[static_cast<std::size_t>(before)].next) {
      const auto& code = pack_[static_cast<std::size_t>(s)].code;
      if (code.size() == n && std::equal(literal, literal + n, code.begin())) return s;
    }
  Step step;
  step.code.assign(literal, literal + n);
  step.predicate = literal[0] >> 1;
  step.negated = literal[0] & 1;
  step.before = before;
  const Predicate& predicate = facts_.predicates()[static_cast<std::size_t>(step.predicate)];
  step.comparison = step.predicate < n_comparisons;
  step.rule = predicate.rule >= 0;
  std::vector<int> key_columns;
  for (std::size_t i = 1; i < n; i++) {
    const Term t = literal[i];
    const int column = static_cast<int>(i) - 1;
    if (kind_of(t) != variable || bound[static_cast<std::size_t>(number_of(t))]) {
      step.key.push_back(t);
      key_columns.push_back(column);
      continue;
    }
    const auto earlier = std::find_if(step.outputs.begin(), step.outputs.end(),
                                      [&](const auto& output) { return output.second == number_of(t); });
    if (earlier != step.outputs.end())
      step.repeated.emplace_back(column, earlier->first);
    else
      step.outputs.emplace_back(column, number_of(t));
  }
  if (predicate.relation >= 0) {
    step.relation = &facts_.relation(predicate);
    if (!step.key.empty()) step.index = &step.relation->index(key_columns);
  }
  pack_.push_back(std::move(step));
  const auto number = static_cast<std::int32_t>(pack_.size()) - 1;
  if (before >= 0) pack_[static_cast<std::size_t>(before)].next.push_back(number);
  return number;
}

void Truth::evaluate_pack(std::int32_t parent, std::span<const Need> needs) {
  pack_.clear();
  pack_.emplace_back();  // the empty query, before every first literal
  std::size_t n_variables = 0;
  for (const Need& need : needs) n_variables = std::max(n_variables, components_[need.query].types.size());
  values_.assign(n_variables, -1);
  std::vector<bool> prefix_bound(n_variables, false);
  const auto bind = [&](std::vector<bool>& bound, const Term* literal) {
    if (!(literal[0] & 1))
      for (std::size_t i = 1; i < components_.length(literal[0]); i++)
        if (kind_of(literal[i]) == variable) bound[static_cast<std::size_t>(number_of(literal[i]))] = true;
  };
  std::int32_t trunk = 0;
  if (parent >= 0) {
    const Code& code = components_[parent].code;
    for (std::size_t i = 0; i < code.size(); i += components_.length(code[i])) {
      trunk = add_step(trunk, code.data() + i, prefix_bound);
      bind(prefix_bound, code.data() + i);
    }
  }
  for (std::size_t q = 0; q < needs.size(); q++) {
    const Component& component = components_[needs[q].query];
    std::vector<bool> bound = prefix_bound;
    std::int32_t step = trunk;
    for (std::size_t i = component.prefix; i < component.code.size(); i += components_.length(component.code[i])) {
      step = add_step(step, component.code.data() + i, bound);
      bind(bound, component.code.data() + i);
    }
    pack_[static_cast<std::size_t>(step)].terminal = static_cast<std::int32_t>(q);
  }
  std::vector<std::int32_t> end(needs.size());
  for (std::size_t s = 0; s < pack_.size(); s++)
    if (pack_[s].terminal >= 0) end[static_cast<std::size_t>(pack_[s].terminal)] = static_cast<std::int32_t>(s);
  left_.assign(pack_.size(), 0);
  open_.assign(needs.size(), 0);
  const auto open = [&](std::size_t q) {
    open_[q] = 1;
    for (std::int32_t s = end[q]; s >= 0; s = pack_[static_cast<std::size_t>(s)].before) left_[static_cast<std::size_t>(s)]++;
  };
  const auto close = [&](std::size_t q) {
    open_[q] = 0;
    for (std::int32_t s = end[q]; s >= 0; s = pack_[static_cast<std::size_t>(s)].before) left_[static_cast<std::size_t>(s)]--;
  };

  // most packs ask the same examples of every query: the counters then start as copies
  for (std::size_t q = 0; q < needs.size(); q++) open(q);
  const std::vector<std::int32_t> all_left = left_;
  for (std::size_t q = 0; q < needs.size(); q++) close(q);

  for (std::size_t w = 0; w < words_; w++) {
    std::uint64_t examples = 0, shared = ~std::uint64_t{0};
    for (const Need& need : needs) {
      examples |= need.examples[w];
      shared &= need.examples[w];
    }
    for (; examples; examples &= examples - 1) {
      const std::uint64_t bit = examples & -examples;
      const std::size_t example = w * 64 + static_cast<std::size_t>(std::countr_zero(bit));
      fixed_ = facts_.fixed_of(example);
      if (shared & bit) {
        left_ = all_left;
        std::fill(open_.begin(), open_.end(), char{1});
        evaluations_ += needs.size();
      } else {
        for (std::size_t q = 0; q < needs.size(); q++)
          if (needs[q].examples[w] & bit) open(q), evaluations_++;
      }
      taken_ = 0;
      over_ = false;
      proceed(0);
      steps_ += taken_;
      // A pack takes at least the steps of each of its queries. Where it passes the limit, the open ones are run alone,
      // so that the limit is one of the query and the example.
      const bool pack_over = over_;
      for (std::size_t q = 0; q < needs.size(); q++) {
        if (!(needs[q].examples[w] & bit)) continue;
        const bool undecided = open_[q] != 0;
        if (undecided) close(q);
        bool holds = !undecided;
        if (undecided && pack_over) {
          std::vector<std::int32_t> others_left(pack_.size(), 0);
          std::vector<char> others_open(needs.size(), 0);
          std::swap(left_, others_left), std::swap(open_, others_open);
          open(q);
          taken_ = 0;
          over_ = false;
          proceed(0);
          steps_ += taken_;
          holds = !open_[q];
          if (over_ && !holds) hits_.push_back({needs[q].query, static_cast<std::int64_t>(example)});
          std::swap(left_, others_left), std::swap(open_, others_open);
        }
        if (holds) truth_[static_cast<std::size_t>(needs[q].query) * words_ + w] |= bit;
      }
    }
  }
}

// After a step's literal has matched: ends of queries are true, and what follows is tried. Returns how many were decided.
std::int32_t Truth::proceed(std::int32_t number) {
  const Step& step = pack_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  if (step.terminal >= 0 && open_[static_cast<std::size_t>(step.terminal)]) {
    open_[static_cast<std::size_t>(step.terminal)] = 0;
    decided = 1;
  }
  for (std::int32_t next : step.next) {
    if (left_[static_cast<std::size_t>(next)] == 0) continue;
    decided += visit(next);
    if (over_) break;
  }
  left_[static_cast<std::size_t>(number)] -= decided;
  return decided;
}

std::int32_t Truth::visit(std::int32_t number) {
  const Step& step = pack_[static_cast<std::size_t>(number)];
  if (++taken_ > limit_) {
    over_ = true;
    return 0;
  }
  std::int32_t key[64];
  for (std::size_t i = 0; i < step.key.size(); i++) key[i] = value(step.key[i]);
  if (step.relation == nullptr) {
    if (step.comparison && step.predicate == equal && !step.negated && step.outputs.size() == 1 && step.key.size() == 1) {
      values_[static_cast<std::size_t>(step.outputs[0].second)] = key[0];
      return proceed(number);
    }
    if (!step.outputs.empty()) return 0;  // no answer for open arguments
    const bool holds = step.comparison ? facts_.compare(step.predicate, key[0], key[1])
                                       : facts_.holds(step.predicate, key, taken_);
    return holds != step.negated ? proceed(number) : 0;
  }
  Index::Range range{0, static_cast<std::uint32_t>(step.relation->n_rows())};
  if (step.index) range = step.index->find(key);
  std::int32_t decided = 0;
  for (std::uint32_t i = range.begin; i < range.end; i++) {
    if (++taken_ > limit_) {
      over_ = true;
      return decided;
    }
    const std::uint32_t row = step.index ? step.index->row(i) : i;
    bool fits = true;
    for (const auto& [column, other] : step.repeated)
      fits = fits && step.relation->at(column, row) == step.relation->at(other, row);
    if (!fits) continue;
    if (step.negated) return 0;
    for (const auto& [column, v] : step.outputs) values_[static_cast<std::size_t>(v)] = step.relation->at(column, row);
    decided += proceed(number);
    if (over_ || left_[static_cast<std::size_t>(number)] == 0) return decided;
  }
  return step.negated ? proceed(number) : decided;
}

}  // namespace crosscut::query

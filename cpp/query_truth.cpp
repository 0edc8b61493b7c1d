#include "query_truth.hpp"

#include <algorithm>
#include <bit>

namespace crosscut::query {

void Truth::forget() {
  std::fill(known_.begin(), known_.end(), 0);
  std::fill(complete_.begin(), complete_.end(), char{0});
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

void Truth::bind(std::vector<char>& bound, const Term* literal) const {
  if (literal[0] & 1) return;
  const std::size_t n = components_.length(literal[0]);
  for (std::size_t i = 1; i < n; i++)
    if (kind_of(literal[i]) == variable) bound[static_cast<std::size_t>(number_of(literal[i]))] = 1;
}

// Literals with the same code at the same place of the trie are one step: bindings are extended once for all queries.
std::int32_t Truth::add_step(std::int32_t before, const Term* literal, const std::vector<char>& bound) {
  const std::size_t n = components_.length(literal[0]);
  std::uint64_t h = static_cast<std::uint64_t>(before) * 0x9E3779B97F4A7C15ull;
  for (std::size_t i = 0; i < n; i++) h = (h ^ static_cast<std::uint32_t>(literal[i])) * 0xBF58476D1CE4E5B9ull;
  if (table_.size() < 2 * pack_.size() + 2) grow_table();
  std::size_t slot = h >> 20 & (table_.size() - 1);
  for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
    const Step& other = pack_[static_cast<std::size_t>(table_[slot])];
    if (other.before == before && other.code[0] == literal[0] && std::equal(literal, literal + n, other.code)) return table_[slot];
  }
  const auto number = static_cast<std::int32_t>(pack_.size());
  table_[slot] = number;
  Step& previous = pack_[static_cast<std::size_t>(before)];
  (previous.last < 0 ? previous.first : pack_[static_cast<std::size_t>(previous.last)].next) = number;
  previous.last = number;

  Step step;
  step.code = literal;
  step.hash = h;
  step.predicate = literal[0] >> 1;
  step.negated = literal[0] & 1;
  step.before = before;
  step.comparison = step.predicate < n_comparisons;
  step.key = static_cast<std::uint32_t>(keys_.size());
  step.output = static_cast<std::uint32_t>(outputs_.size());
  step.repeated = static_cast<std::uint32_t>(repeated_.size());
  std::uint64_t columns = 0;
  for (std::size_t i = 1; i < n; i++) {
    const Term t = literal[i];
    const int column = static_cast<int>(i) - 1;
    if (kind_of(t) != variable || bound[static_cast<std::size_t>(number_of(t))]) {
      keys_.push_back(t);
      columns |= std::uint64_t{1} << column;
      continue;
    }
    const auto begin = outputs_.begin() + step.output;
    const auto earlier = std::find_if(begin, outputs_.end(), [&](const auto& o) { return o.second == number_of(t); });
    if (earlier != outputs_.end())
      repeated_.emplace_back(column, earlier->first);
    else
      outputs_.emplace_back(column, number_of(t));
  }
  step.n_key = static_cast<std::uint32_t>(keys_.size()) - step.key;
  step.n_outputs = static_cast<std::uint32_t>(outputs_.size()) - step.output;
  step.n_repeated = static_cast<std::uint32_t>(repeated_.size()) - step.repeated;
  const Predicate& predicate = facts_.predicates()[static_cast<std::size_t>(step.predicate)];
  if (predicate.relation >= 0) {
    step.relation = &facts_.relation(predicate);
    if (columns) step.index = &step.relation->index(columns);
  }
  pack_.push_back(step);
  return number;
}

void Truth::grow_table() {
  table_.assign(std::max<std::size_t>(64, 2 * table_.size()), -1);
  for (std::size_t s = 1; s < pack_.size(); s++) {
    std::size_t slot = pack_[s].hash >> 20 & (table_.size() - 1);
    while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<std::int32_t>(s);
  }
}

void Truth::build_pack(std::span<const Need> needs) {
  pack_.assign(1, Step{});  // the empty query, before every first literal
  table_.resize(std::bit_ceil(std::max<std::size_t>(64, 4 * needs.size())));
  std::fill(table_.begin(), table_.end(), -1);
  keys_.clear();
  outputs_.clear();
  repeated_.clear();
  std::size_t n_variables = 0;
  for (const Need& need : needs) n_variables = std::max(n_variables, components_[need.query].types.size());
  values_.assign(n_variables, -1);
  prefix_bound_.assign(n_variables, 0);
  std::int32_t trunk = 0;
  if (needs[0].parent >= 0) {
    const auto code = components_[needs[0].parent].code;
    for (std::size_t i = 0; i < code.size(); i += components_.length(code[i])) {
      trunk = add_step(trunk, code.data() + i, prefix_bound_);
      bind(prefix_bound_, code.data() + i);
    }
  }
  end_.resize(needs.size());
  for (std::size_t q = 0; q < needs.size(); q++) {
    const Component component = components_[needs[q].query];
    bound_ = prefix_bound_;
    std::int32_t step = trunk;
    for (std::size_t i = component.prefix; i < component.code.size(); i += components_.length(component.code[i])) {
      step = add_step(step, component.code.data() + i, bound_);
      bind(bound_, component.code.data() + i);
    }
    pack_[static_cast<std::size_t>(step)].terminal = static_cast<std::int32_t>(q);
    end_[q] = step;
  }
  left_.assign(pack_.size(), 0);
  open_.assign(needs.size(), 0);
}

void Truth::open(std::size_t query) {
  open_[query] = 1;
  for (std::int32_t s = end_[query]; s >= 0; s = pack_[static_cast<std::size_t>(s)].before) left_[static_cast<std::size_t>(s)]++;
}

void Truth::evaluate_pack(std::span<const Need> needs, const std::vector<std::uint64_t>& examples) {
  build_pack(needs);
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
    if (shared) {
      std::fill(left_.begin(), left_.end(), 0);
      for (const Active& each : active_) open(static_cast<std::size_t>(each.query));
      all_left_ = left_;
    }
    for (; some; some &= some - 1) {
      const std::uint64_t bit = some & -some;
      const auto example = static_cast<std::size_t>(order_[w * 64 + static_cast<std::size_t>(std::countr_zero(bit))]);
      fixed_ = facts_.fixed_of(example);
      if (shared & bit) {
        left_ = all_left_;
        for (const Active& each : active_) open_[static_cast<std::size_t>(each.query)] = 1;
        evaluations_ += active_.size();
      } else {
        std::fill(left_.begin(), left_.end(), 0);
        for (const Active& each : active_)
          if (each.wanted & bit) open(static_cast<std::size_t>(each.query)), evaluations_++;
      }
      taken_ = 0;
      over_ = false;
      decided_.clear();
      proceed(0);
      steps_ += taken_;
      for (std::int32_t q : decided_)
        truth_[static_cast<std::size_t>(needs[static_cast<std::size_t>(q)].query) * words_ + w] |= bit;
      // A pack takes at least the steps of each of its queries. Where it passes the limit, the open ones are run alone,
      // so that the limit is one of the query and the example.
      undecided_.clear();
      for (const Active& each : active_) {
        if (over_ && open_[static_cast<std::size_t>(each.query)]) undecided_.push_back(each.query);
        open_[static_cast<std::size_t>(each.query)] = 0;
      }
      for (std::int32_t q : undecided_) {
        if (run_alone(static_cast<std::size_t>(q)))
          truth_[static_cast<std::size_t>(needs[static_cast<std::size_t>(q)].query) * words_ + w] |= bit;
        else if (over_)
          hits_.push_back({needs[static_cast<std::size_t>(q)].query, static_cast<std::int64_t>(example)});
      }
    }
  }
}

bool Truth::run_alone(std::size_t query) {
  std::fill(left_.begin(), left_.end(), 0);
  open(query);
  taken_ = 0;
  over_ = false;
  proceed(0);
  steps_ += taken_;
  const bool found = !open_[query];
  open_[query] = 0;
  return found;
}

// After a step's literal has matched: ends of queries are true, and what follows is tried. Returns how many were decided.
std::int32_t Truth::proceed(std::int32_t number) {
  const Step& step = pack_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  if (step.terminal >= 0 && open_[static_cast<std::size_t>(step.terminal)]) {
    open_[static_cast<std::size_t>(step.terminal)] = 0;
    decided_.push_back(step.terminal);
    decided = 1;
  }
  for (std::int32_t next = step.first; next >= 0; next = pack_[static_cast<std::size_t>(next)].next) {
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
  for (std::uint32_t i = 0; i < step.n_key; i++) key[i] = value(keys_[step.key + i]);
  if (step.relation == nullptr) {
    if (step.predicate == equal && !step.negated && step.n_outputs == 1 && step.n_key == 1) {
      values_[static_cast<std::size_t>(outputs_[step.output].second)] = key[0];
      return proceed(number);
    }
    if (step.n_outputs > 0) return 0;  // no answer for open arguments
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
    for (std::uint32_t r = step.repeated; r < step.repeated + step.n_repeated; r++)
      fits = fits && step.relation->at(repeated_[r].first, row) == step.relation->at(repeated_[r].second, row);
    if (!fits) continue;
    if (step.negated) return 0;
    for (std::uint32_t o = step.output; o < step.output + step.n_outputs; o++)
      values_[static_cast<std::size_t>(outputs_[o].second)] = step.relation->at(outputs_[o].first, row);
    decided += proceed(number);
    if (over_ || left_[static_cast<std::size_t>(number)] == 0) return decided;
  }
  return step.negated ? proceed(number) : decided;
}

}  // namespace crosscut::query

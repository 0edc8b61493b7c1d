#include "pack.hpp"

#include <algorithm>
#include <bit>

#include "tails.hpp"

namespace crosscut::query {

namespace {

constexpr Term any_constant = -1;  // in the code of a switch

std::uint64_t mix(std::uint64_t h, std::int32_t value) { return (h ^ static_cast<std::uint32_t>(value)) * 0xBF58476D1CE4E5B9ull; }

std::uint64_t hash_of(std::int32_t before, std::span<const Term> code) {
  std::uint64_t h = static_cast<std::uint64_t>(before) * 0x9E3779B97F4A7C15ull;
  for (Term t : code) h = mix(h, t);
  return h;
}

}  // namespace

void Pack::reserve(std::size_t n_queries) {
  // a query adds about one literal of a few terms to those of the others, and a switch before it
  steps_.reserve(2 * n_queries + 4);
  left_.reserve(2 * n_queries + 4);
  codes_.reserve(12 * n_queries);
  keys_.reserve(4 * n_queries);
  outputs_.reserve(4 * n_queries);
}

std::int32_t Pack::add(std::int32_t before, const Term* literal, std::vector<char>& bound) {
  const std::span<const Term> code(literal, components_.length(literal[0]));
  const bool positive = !(literal[0] & 1);
  std::size_t constants = 0, known = 0;
  for (const Term t : code.subspan(1)) {
    constants += kind_of(t) == constant;
    known += kind_of(t) == fixed || (kind_of(t) == variable && bound[static_cast<std::size_t>(number_of(t))]);
  }
  std::uint64_t hash = 0;
  bool is_case = false;
  if (positive && constants > 0 && constants <= 2 && known > 0 &&
      facts_.predicates()[static_cast<std::size_t>(literal[0] >> 1)].relation >= 0) {
    pattern_.assign(code.begin(), code.end());
    for (std::size_t i = 1; i < pattern_.size(); i++)
      if (kind_of(pattern_[i]) == constant) pattern_[i] = any_constant;
    before = find_or_add(before, pattern_, bound, true, hash_of(before, pattern_));
    hash = hash_of(before, {});
    for (const Term t : code.subspan(1))
      if (kind_of(t) == constant) hash = mix(hash, number_of(t));
    is_case = true;
  }
  const std::int32_t step = find_or_add(before, code, bound, false, is_case ? hash : hash_of(before, code));
  if (positive)
    for (const Term t : code.subspan(1))
      if (kind_of(t) == variable) bound[static_cast<std::size_t>(number_of(t))] = 1;
  return step;
}

std::int32_t Pack::find_or_add(std::int32_t before, std::span<const Term> code, const std::vector<char>& bound, bool is_switch,
                               std::uint64_t h) {
  if (table_.size() < 2 * steps_.size() + 2) grow_table();
  std::size_t slot = h >> 20 & (table_.size() - 1);
  for (; table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
    const Step& other = steps_[static_cast<std::size_t>(table_[slot])];
    if (other.hash == h && other.before == before && std::equal(code.begin(), code.end(), codes_.begin() + other.code))
      return table_[slot];
  }
  const auto number = static_cast<std::int32_t>(steps_.size());
  table_[slot] = number;
  Step& previous = steps_[static_cast<std::size_t>(before)];
  (previous.last < 0 ? previous.first : steps_[static_cast<std::size_t>(previous.last)].next) = number;
  previous.last = number;
  previous.n_cases++;

  Step step;
  step.code = static_cast<std::uint32_t>(codes_.size());
  codes_.insert(codes_.end(), code.begin(), code.end());
  step.hash = h;
  step.predicate = code[0] >> 1;
  step.negated = code[0] & 1;
  step.is_switch = is_switch;
  step.before = before;
  step.key = static_cast<std::uint32_t>(keys_.size());
  step.output = static_cast<std::uint32_t>(outputs_.size());
  step.repeated = static_cast<std::uint32_t>(repeated_.size());
  std::uint64_t columns = 0;
  for (std::size_t i = 1; i < code.size(); i++) {
    const Term t = code[i];
    const int column = static_cast<int>(i) - 1;
    if (t == any_constant) {
      (step.column < 0 ? step.column : step.second_column) = column;
      continue;
    }
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
  step.test = predicate.test;
  if (predicate.relation >= 0) {
    step.relation = &facts_.relation(predicate);
    if (columns) step.index = &step.relation->index(columns);
  }
  steps_.push_back(step);
  left_.push_back(0);
  return number;
}

void Pack::grow_table() {
  table_.assign(std::max<std::size_t>(64, 2 * table_.size()), -1);
  for (std::size_t s = 1; s < steps_.size(); s++) {
    std::size_t slot = steps_[s].hash >> 20 & (table_.size() - 1);
    while (table_[slot] >= 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = static_cast<std::int32_t>(s);
  }
}

void Pack::end(std::int32_t query, std::int32_t step) {
  steps_[static_cast<std::size_t>(step)].terminal = query;
  ends_.push_back({step});
  open_.push_back(0);
}

void Pack::end_with_tail(std::int32_t query, std::int32_t trunk, std::int32_t variable, std::int32_t kind, std::int32_t tail) {
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.variable == variable; });
  if (group == groups_.end()) {
    groups_.push_back({trunk, variable, kind, {}, {}, {}});
    group = groups_.end() - 1;
  }
  const auto at = static_cast<std::size_t>(tail);
  if (group->queries.size() <= at) {
    group->queries.resize(at + 1, -1);
    group->open.resize(at / 64 + 1, 0);
  }
  group->queries[at] = query;
  ends_.push_back({trunk, static_cast<std::int32_t>(group - groups_.begin()), tail});
  open_.push_back(0);
}

void Pack::close_all() {
  std::fill(left_.begin(), left_.end(), 0);
  std::fill(open_.begin(), open_.end(), char{0});
  for (Group& group : groups_) std::fill(group.open.begin(), group.open.end(), 0);
}

void Pack::open(std::int32_t query) {
  open_[static_cast<std::size_t>(query)] = 1;
  const End& end = ends_[static_cast<std::size_t>(query)];
  if (end.group >= 0)
    groups_[static_cast<std::size_t>(end.group)].open[static_cast<std::size_t>(end.tail / 64)] |= std::uint64_t{1} << end.tail % 64;
  for (std::int32_t s = end.step; s >= 0; s = steps_[static_cast<std::size_t>(s)].before) left_[static_cast<std::size_t>(s)]++;
}

void Pack::close(std::int32_t query) {
  if (!is_open(query)) return;
  open_[static_cast<std::size_t>(query)] = 0;
  const End& end = ends_[static_cast<std::size_t>(query)];
  if (end.group >= 0)
    groups_[static_cast<std::size_t>(end.group)].open[static_cast<std::size_t>(end.tail / 64)] &= ~(std::uint64_t{1} << end.tail % 64);
  for (std::int32_t s = end.step; s >= 0; s = steps_[static_cast<std::size_t>(s)].before) left_[static_cast<std::size_t>(s)]--;
}

void Pack::save() {
  saved_left_ = left_;
  saved_open_ = open_;
  for (Group& group : groups_) group.saved = group.open;
}

void Pack::restore() {
  left_ = saved_left_;
  open_ = saved_open_;
  for (Group& group : groups_) group.open = group.saved;
}

const std::vector<std::int32_t>& Pack::search(Effort& effort) {
  effort_ = &effort;
  decided_.clear();
  proceed(0);
  return decided_;
}

// After a step's literal has matched: ends of queries are true, and what follows is tried. Returns how many were decided.
std::int32_t Pack::proceed(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  if (step.terminal >= 0 && open_[static_cast<std::size_t>(step.terminal)]) {
    open_[static_cast<std::size_t>(step.terminal)] = 0;
    decided_.push_back(step.terminal);
    decided = 1;
  }
  for (std::int32_t next = step.first; next >= 0; next = steps_[static_cast<std::size_t>(next)].next) {
    if (left_[static_cast<std::size_t>(next)] == 0) continue;
    decided += steps_[static_cast<std::size_t>(next)].is_switch ? visit_switch(next) : visit(next);
    if (effort_->over) break;
  }
  for (Group& group : groups_)
    if (group.trunk == number && !effort_->over) decided += look_up(group);
  left_[static_cast<std::size_t>(number)] -= decided;
  return decided;
}

std::int32_t Pack::look_up(Group& group) {
  std::uint64_t any = 0;
  for (std::uint64_t word : group.open) any |= word;
  if (!any) return 0;
  const auto found = tails_->found(group.kind, *effort_, values_[static_cast<std::size_t>(group.variable)], group.open);
  std::int32_t decided = 0;
  for (std::size_t w = 0; w < group.open.size(); w++) {
    std::uint64_t hits = group.open[w] & found[w];
    group.open[w] &= ~hits;
    for (; hits; hits &= hits - 1) {
      const std::int32_t query = group.queries[w * 64 + static_cast<std::size_t>(std::countr_zero(hits))];
      open_[static_cast<std::size_t>(query)] = 0;
      decided_.push_back(query);
      decided++;
    }
  }
  return decided;
}

// Whether a fact agrees with itself where the literal repeats a variable; binds what it brings.
bool Pack::matches(const Step& step, std::uint32_t row) {
  for (std::uint32_t r = step.repeated; r < step.repeated + step.n_repeated; r++)
    if (step.relation->at(repeated_[r].first, row) != step.relation->at(repeated_[r].second, row)) return false;
  for (std::uint32_t o = step.output; o < step.output + step.n_outputs; o++)
    values_[static_cast<std::size_t>(outputs_[o].second)] = step.relation->at(outputs_[o].first, row);
  return true;
}

// Takes a step and the values of what is bound there; false where the limit is passed.
bool Pack::begin(const Step& step, std::int32_t* key) {
  if (++effort_->taken > effort_->limit) {
    effort_->over = true;
    return false;
  }
  for (std::uint32_t i = 0; i < step.n_key; i++) key[i] = value(keys_[step.key + i]);
  return true;
}

std::int32_t Pack::visit(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  Effort& effort = *effort_;
  std::int32_t key[64];
  if (!begin(step, key)) return 0;
  if (step.relation == nullptr) {
    if (step.predicate == equal && !step.negated && step.n_outputs == 1 && step.n_key == 1) {
      values_[static_cast<std::size_t>(outputs_[step.output].second)] = key[0];
      return proceed(number);
    }
    if (step.n_outputs > 0) return 0;  // no answer for open arguments
    const bool holds =
        step.test >= 0 ? facts_.compare(step.test, key[0], key[1]) : facts_.holds(step.predicate, key, effort.taken);
    return holds != step.negated ? proceed(number) : 0;
  }
  Index::Range range{0, static_cast<std::uint32_t>(step.relation->n_rows())};
  if (step.index) range = step.index->find(key);
  std::int32_t decided = 0;
  for (std::uint32_t i = range.begin; i < range.end; i++) {
    if (++effort.taken > effort.limit) {
      effort.over = true;
      return decided;
    }
    const std::uint32_t row = step.index ? step.index->row(i) : i;
    if (!matches(step, row)) continue;
    if (step.negated) return 0;
    decided += proceed(number);
    if (effort.over || left_[static_cast<std::size_t>(number)] == 0) return decided;
  }
  return step.negated ? proceed(number) : decided;
}

std::int32_t Pack::visit_switch(std::int32_t number) {
  const Step& step = steps_[static_cast<std::size_t>(number)];
  Effort& effort = *effort_;
  std::int32_t key[64];
  if (!begin(step, key)) return 0;
  const Index::Range range = step.index->find(key);
  std::int32_t& left = left_[static_cast<std::size_t>(number)];
  std::int32_t decided = 0;
  // looking at all facts, against passing over all literals to look up those that are open
  if (range.end - range.begin > static_cast<std::uint32_t>(4 * left + step.n_cases / 4)) {
    for (std::int32_t each = step.first; each >= 0 && !effort.over; each = steps_[static_cast<std::size_t>(each)].next)
      if (left_[static_cast<std::size_t>(each)] > 0) decided += visit(each);
    left -= decided;
    return decided;
  }
  for (std::uint32_t i = range.begin; i < range.end && left > 0; i++) {
    if (++effort.taken > effort.limit) {
      effort.over = true;
      break;
    }
    const std::uint32_t row = step.index->row(i);
    const std::int32_t chosen = case_of(number, row);
    if (chosen < 0 || left_[static_cast<std::size_t>(chosen)] == 0 || !matches(step, row)) continue;
    const std::int32_t more = proceed(chosen);
    left -= more;
    decided += more;
    if (effort.over) break;
  }
  return decided;
}

// The literal after a switch that has the constants of a fact; its hash is that of those constants.
std::int32_t Pack::case_of(std::int32_t of, std::uint32_t row) const {
  const Step& step = steps_[static_cast<std::size_t>(of)];
  const std::int32_t one = step.relation->at(step.column, row);
  const std::int32_t other = step.second_column < 0 ? -1 : step.relation->at(step.second_column, row);
  std::uint64_t h = mix(hash_of(of, {}), one);
  if (other >= 0) h = mix(h, other);
  for (std::size_t slot = h >> 20 & (table_.size() - 1); table_[slot] >= 0; slot = (slot + 1) & (table_.size() - 1)) {
    const Step& found = steps_[static_cast<std::size_t>(table_[slot])];
    if (found.hash != h || found.before != of) continue;
    const Term* code = codes_.data() + found.code + 1;
    if (number_of(code[step.column]) == one && (other < 0 || number_of(code[step.second_column]) == other)) return table_[slot];
  }
  return -1;
}

}  // namespace crosscut::query

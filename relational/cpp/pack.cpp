// Builds the trie of a pack and opens or closes its queries. A closed query is skipped by searches.
#include "pack.hpp"

#include <algorithm>

namespace crosscut::query {

namespace {

constexpr Term any_constant = -1;  // in the code of a switch

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
    known += kind_of(t) == fixed ||
             (kind_of(t) == variable && bound[static_cast<std::size_t>(number_of(t))]);
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
  const std::int32_t step =
      find_or_add(before, code, bound, false, is_case ? hash : hash_of(before, code));
  if (positive)
    for (const Term t : code.subspan(1))
      if (kind_of(t) == variable) bound[static_cast<std::size_t>(number_of(t))] = 1;
  return step;
}

std::int32_t Pack::find_or_add(std::int32_t before, std::span<const Term> code,
                               const std::vector<char>& bound, bool is_switch, std::uint64_t h) {
  table_.reserve(steps_.size(),
                 [&](std::int32_t step) { return steps_[static_cast<std::size_t>(step)].hash; });
  std::int32_t& known = table_.find(h, [&](std::int32_t step) {
    const Step& other = steps_[static_cast<std::size_t>(step)];
    return other.hash == h && other.before == before &&
           std::equal(code.begin(), code.end(), codes_.begin() + other.code);
  });
  if (known >= 0) return known;
  const auto number = known = static_cast<std::int32_t>(steps_.size());
  Step& previous = steps_[static_cast<std::size_t>(before)];
  (previous.last < 0 ? previous.first : steps_[static_cast<std::size_t>(previous.last)].next) =
      number;
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
    const auto earlier = std::find_if(begin, outputs_.end(),
                                      [&](const auto& o) { return o.second == number_of(t); });
    if (earlier != outputs_.end()) repeated_.emplace_back(column, earlier->first);
    else outputs_.emplace_back(column, number_of(t));
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

void Pack::end(std::int32_t query, std::int32_t step) {
  std::int32_t& terminal = steps_[static_cast<std::size_t>(step)].terminal;
  ends_.push_back({.step = step, .same = terminal});
  terminal = query;
  open_.push_back(0);
}

void Pack::close_all() {
  std::fill(left_.begin(), left_.end(), 0);
  std::fill(open_.begin(), open_.end(), char{0});
}

void Pack::open(std::int32_t query) {
  open_[static_cast<std::size_t>(query)] = 1;
  for (std::int32_t s = ends_[static_cast<std::size_t>(query)].step; s >= 0;
       s = steps_[static_cast<std::size_t>(s)].before)
    left_[static_cast<std::size_t>(s)]++;
}

void Pack::close(std::int32_t query) {
  if (!is_open(query)) return;
  open_[static_cast<std::size_t>(query)] = 0;
  for (std::int32_t s = ends_[static_cast<std::size_t>(query)].step; s >= 0;
       s = steps_[static_cast<std::size_t>(s)].before)
    left_[static_cast<std::size_t>(s)]--;
}

void Pack::save() {
  saved_left_ = left_;
  saved_open_ = open_;
}

void Pack::restore() {
  left_ = saved_left_;
  open_ = saved_open_;
}

}  // namespace crosscut::query

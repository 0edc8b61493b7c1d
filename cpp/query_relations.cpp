#include "query_relations.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace crosscut::query {

namespace {

constexpr std::int32_t unbound = -1;  // constants are numbered from 0

inline std::uint64_t mix(std::uint64_t h, std::int32_t value) {
  h ^= static_cast<std::uint32_t>(value);
  h *= 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

}  // namespace

Index::Index(const std::vector<std::vector<std::int32_t>>& columns, std::size_t n_rows, std::vector<int> key)
    : columns_(columns), key_(std::move(key)), order_(n_rows) {
  std::iota(order_.begin(), order_.end(), 0u);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    for (int c : key_) {
      const auto& column = columns_[static_cast<std::size_t>(c)];
      if (column[a] != column[b]) return column[a] < column[b];
    }
    return a < b;
  };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return std::all_of(key_.begin(), key_.end(), [&](int c) {
      const auto& column = columns_[static_cast<std::size_t>(c)];
      return column[a] == column[b];
    });
  };
  std::size_t groups = 0;
  for (std::size_t i = 0; i < n_rows; i++) groups += i == 0 || !same(order_[i - 1], order_[i]);
  slots_.assign(std::bit_ceil(2 * groups + 1), Range{0, 0});
  mask_ = slots_.size() - 1;
  for (std::size_t i = 0; i < n_rows;) {
    std::size_t end = i + 1;
    while (end < n_rows && same(order_[i], order_[end])) end++;
    std::uint64_t slot = hash_row(order_[i]) & mask_;
    while (slots_[slot].end != 0) slot = (slot + 1) & mask_;
    slots_[slot] = Range{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end)};
    i = end;
  }
}

std::uint64_t Index::hash_row(std::uint32_t row) const {
  std::uint64_t h = 0;
  for (int c : key_) h = mix(h, columns_[static_cast<std::size_t>(c)][row]);
  return h;
}

Index::Range Index::find(const std::int32_t* key) const {
  std::uint64_t h = 0;
  for (std::size_t i = 0; i < key_.size(); i++) h = mix(h, key[i]);
  for (std::uint64_t slot = h & mask_;; slot = (slot + 1) & mask_) {
    const Range range = slots_[slot];
    if (range.end == 0) return range;
    const std::uint32_t row = order_[range.begin];
    std::size_t i = 0;
    while (i < key_.size() && columns_[static_cast<std::size_t>(key_[i])][row] == key[i]) i++;
    if (i == key_.size()) return range;
  }
}

Relation::Relation(const std::int32_t* values, std::size_t arity, std::size_t n_rows) : n_rows_(n_rows), columns_(arity) {
  for (std::size_t c = 0; c < arity; c++) columns_[c].assign(values + c * n_rows, values + (c + 1) * n_rows);
}

const Index& Relation::index(const std::vector<int>& key) {
  for (const auto& [known, made] : indexes_)
    if (known == key) return *made;
  indexes_.emplace_back(key, std::make_unique<Index>(columns_, n_rows_, key));
  return *indexes_.back().second;
}

Facts::Facts(std::size_t n_examples, std::size_t n_fixed, std::vector<std::int32_t> fixed, std::vector<double> numbers)
    : n_examples_(n_examples), n_fixed_(n_fixed), fixed_(std::move(fixed)), numbers_(std::move(numbers)) {
  predicates_.assign(n_comparisons, Predicate{2});
}

std::int32_t Facts::add_relation(const std::int32_t* values, std::size_t arity, std::size_t n_rows) {
  relations_.push_back(std::make_unique<Relation>(values, arity, n_rows));
  predicates_.push_back({arity, static_cast<std::int32_t>(relations_.size()) - 1, -1});
  return static_cast<std::int32_t>(predicates_.size()) - 1;
}

std::int32_t Facts::add_rule(Rule rule) {
  predicates_.push_back({rule.arity, -1, static_cast<std::int32_t>(rules_.size())});
  rules_.push_back(std::move(rule));
  return static_cast<std::int32_t>(predicates_.size()) - 1;
}

bool Facts::compare(std::int32_t comparison, std::int32_t left, std::int32_t right) const {
  if (comparison == equal) return left == right;
  if (comparison == different) return left != right;
  // NaN stands for what is not a number, so that such comparisons are false.
  const double a = numbers_[static_cast<std::size_t>(left)], b = numbers_[static_cast<std::size_t>(right)];
  switch (comparison) {
    case less: return a < b;
    case at_most: return a <= b;
    case greater: return a > b;
    default: return a >= b;
  }
}

bool Facts::holds(std::int32_t predicate, const std::int32_t* values, std::uint64_t& steps) {
  steps++;
  if (predicate < n_comparisons) return compare(predicate, values[0], values[1]);
  const Predicate& p = predicates_[static_cast<std::size_t>(predicate)];
  if (p.relation >= 0) {
    Relation& facts = relation(p);
    if (p.arity == 0) return facts.n_rows() > 0;
    std::vector<int> all(p.arity);
    std::iota(all.begin(), all.end(), 0);
    return facts.index(all).find(values).end != 0;
  }
  const Rule& rule = rules_[static_cast<std::size_t>(p.rule)];
  for (const auto& body : rule.bodies) {
    std::vector<std::int32_t> bound(values, values + p.arity);
    for (const Goal& goal : body)
      for (Term t : goal.args)
        if (kind_of(t) == variable && static_cast<std::size_t>(number_of(t)) >= bound.size())
          bound.resize(static_cast<std::size_t>(number_of(t)) + 1, unbound);
    if (body_holds(body, 0, bound, steps)) return true;
  }
  return false;
}

bool Facts::body_holds(const std::vector<Goal>& body, std::size_t position, std::vector<std::int32_t>& bound,
                       std::uint64_t& steps) {
  if (position == body.size()) return true;
  const Goal& goal = body[position];
  const Predicate& p = predicates_[static_cast<std::size_t>(goal.predicate)];
  std::vector<std::int32_t> values;
  std::vector<int> key;
  for (std::size_t i = 0; i < goal.args.size(); i++) {
    const Term t = goal.args[i];
    const std::int32_t value =
        kind_of(t) == constant ? number_of(t) : bound[static_cast<std::size_t>(number_of(t))];
    if (value == unbound) continue;
    values.push_back(value);
    key.push_back(static_cast<int>(i));
  }
  if (key.size() == goal.args.size())
    return holds(goal.predicate, values.data(), steps) != goal.negated && body_holds(body, position + 1, bound, steps);
  if (p.relation < 0) {
    // An equation binds its open side; other comparisons and rules have no answer for open arguments.
    if (goal.predicate != equal || goal.negated || values.size() != 1) return false;
    const auto open = static_cast<std::size_t>(number_of(goal.args[key[0] == 0 ? 1 : 0]));
    bound[open] = values[0];
    const bool found = body_holds(body, position + 1, bound, steps);
    bound[open] = unbound;
    return found;
  }
  Relation& facts = relation(p);
  Index::Range range{0, static_cast<std::uint32_t>(facts.n_rows())};
  const Index* index = key.empty() ? nullptr : &facts.index(key);
  if (index) range = index->find(values.data());
  bool found = false;
  for (std::uint32_t i = range.begin; i < range.end && !found; i++) {
    steps++;
    const std::uint32_t row = index ? index->row(i) : i;
    std::vector<std::size_t> opened;
    bool fits = true;
    for (std::size_t c = 0; c < goal.args.size() && fits; c++) {
      const Term t = goal.args[c];
      if (kind_of(t) == constant) continue;
      auto& value = bound[static_cast<std::size_t>(number_of(t))];
      const std::int32_t fact = facts.at(static_cast<int>(c), row);
      if (value == unbound) {
        value = fact;
        opened.push_back(static_cast<std::size_t>(number_of(t)));
      } else {
        fits = value == fact;
      }
    }
    found = fits && (goal.negated || body_holds(body, position + 1, bound, steps));
    for (std::size_t v : opened) bound[v] = unbound;
  }
  return goal.negated ? !found && body_holds(body, position + 1, bound, steps) : found;
}

}  // namespace crosscut::query

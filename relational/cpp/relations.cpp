// Hash indexes, built when a search first needs one, and the evaluation of comparisons and rules
// for bound arguments.
#include "relations.hpp"

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

Index::Index(const std::vector<Column>& columns, std::size_t n_rows, std::uint64_t key,
             const std::vector<std::uint64_t>& missing)
    : order_(n_rows) {
  for (std::size_t c = 0; c < columns.size(); c++)
    if (key >> c & 1) key_.push_back(columns[c].data());
  std::iota(order_.begin(), order_.end(), 0u);
  if (!missing.empty()) {
    std::erase_if(order_, [&](std::uint32_t row) { return (missing[row] & key) != 0; });
    n_rows = order_.size();
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    for (const std::int32_t* column : key_)
      if (column[a] != column[b]) return column[a] < column[b];
    return a < b;
  };
  if (!std::is_sorted(order_.begin(), order_.end(), before))
    std::sort(order_.begin(), order_.end(), before);
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    return std::all_of(key_.begin(), key_.end(),
                       [&](const std::int32_t* column) { return column[a] == column[b]; });
  };
  if (n_rows == 0) return;
  const std::int32_t* first = key_[0];
  least_ = first[order_.front()];
  const auto spread = static_cast<std::size_t>(first[order_.back()] - least_) + 1;
  const bool direct = spread <= 8 * n_rows + 4096;
  if (direct) regions_.resize(spread);
  for (std::size_t i = 0; i < n_rows;) {
    const std::int32_t value = first[order_[i]];
    std::size_t end = i;
    std::uint32_t groups = 0;
    for (; end < n_rows && first[order_[end]] == value; end++)
      groups += end == i || !same(order_[end - 1], order_[end]);
    Region region{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(end),
                  static_cast<std::uint32_t>(slots_.size()), 0};
    if (key_.size() > 1) {
      region.mask = std::bit_ceil(2 * groups) - 1;
      slots_.resize(slots_.size() + region.mask + 1, Range{0, 0});
      for (std::size_t g = i; g < end;) {
        std::size_t last = g + 1;
        while (last < end && same(order_[g], order_[last])) last++;
        std::uint64_t h = 0;
        for (std::size_t c = 1; c < key_.size(); c++) h = mix(h, key_[c][order_[g]]);
        std::uint32_t slot = static_cast<std::uint32_t>(h) & region.mask;
        while (slots_[region.slots + slot].end != 0) slot = (slot + 1) & region.mask;
        slots_[region.slots + slot] =
            Range{static_cast<std::uint32_t>(g), static_cast<std::uint32_t>(last)};
        g = last;
      }
    }
    if (direct) {
      regions_[static_cast<std::size_t>(value - least_)] = region;
    } else {
      values_.push_back(value);
      regions_.push_back(region);
    }
    i = end;
  }
}

const Index::Region* Index::region_of(std::int32_t value) const {
  if (values_.empty()) {
    const auto at = static_cast<std::size_t>(static_cast<std::int64_t>(value) - least_);
    return at < regions_.size() ? &regions_[at] : nullptr;
  }
  const auto found = std::lower_bound(values_.begin(), values_.end(), value);
  if (found == values_.end() || *found != value) return nullptr;
  return &regions_[static_cast<std::size_t>(found - values_.begin())];
}

Index::Range Index::find_within(const Region& region, const std::int32_t* key) const {
  if (region.begin == region.end) return {0, 0};
  const std::size_t n = key_.size();
  std::uint64_t h = 0;
  for (std::size_t i = 1; i < n; i++) h = mix(h, key[i]);
  const Range* table = slots_.data() + region.slots;
  for (std::uint32_t slot = static_cast<std::uint32_t>(h) & region.mask;;
       slot = (slot + 1) & region.mask) {
    const Range range = table[slot];
    if (range.end == 0) return range;
    const std::uint32_t row = order_[range.begin];
    std::size_t i = 1;
    while (i < n && key_[i][row] == key[i]) i++;
    if (i == n) return range;
  }
}

Relation::Relation(const std::int32_t* values, std::size_t arity, std::size_t n_rows,
                   std::vector<std::uint64_t> missing, std::uint64_t row_key)
    : n_rows_(n_rows), columns_(arity), missing_(std::move(missing)), row_key_(row_key) {
  for (std::size_t c = 0; c < arity; c++)
    columns_[c].assign(values + c * n_rows, values + (c + 1) * n_rows);
}

const Index* Relation::find(std::uint64_t key) const {
  for (const Known* known = newest_.load(std::memory_order_acquire); known;
       known = known->older.get())
    if (known->key == key) return &known->index;
  return nullptr;
}

const Index& Relation::index(std::uint64_t key) {
  if (const Index* known = find(key)) return *known;
  const std::scoped_lock lock(building_);
  if (const Index* known = find(key)) return *known;  // another thread was faster
  static const std::vector<std::uint64_t> nothing;
  const auto& missing = (key & row_key_) != 0 ? nothing : missing_;
  std::unique_ptr<Known> made(new Known{key, Index(columns_, n_rows_, key, missing), nullptr});
  made->older = std::move(indexes_);
  indexes_ = std::move(made);
  newest_.store(indexes_.get(), std::memory_order_release);
  return indexes_->index;
}

Facts::Facts(std::size_t n_examples, std::size_t n_fixed, std::vector<std::int32_t> fixed,
             std::vector<double> numbers)
    : n_examples_(n_examples),
      n_fixed_(n_fixed),
      fixed_(std::move(fixed)),
      numbers_(std::move(numbers)) {
  for (std::int32_t c = 0; c < n_comparisons; c++) predicates_.push_back({2, -1, -1, c});
}

std::int32_t Facts::add_relation(const std::int32_t* values, std::size_t arity, std::size_t n_rows,
                                 std::vector<std::uint64_t> missing, std::uint64_t row_key) {
  relations_.push_back(
      std::make_unique<Relation>(values, arity, n_rows, std::move(missing), row_key));
  predicates_.push_back({arity, static_cast<std::int32_t>(relations_.size()) - 1});
  return static_cast<std::int32_t>(predicates_.size()) - 1;
}

namespace {

// A rule such as equals(X,Y) :- X = Y is just a comparison.
std::int32_t test_of(const Rule& rule) {
  if (rule.arity != 2 || rule.bodies.size() != 1 || rule.bodies[0].size() != 1) return -1;
  const Goal& goal = rule.bodies[0][0];
  if (goal.negated || goal.predicate >= n_comparisons) return -1;
  const Term x = term(variable, 0), y = term(variable, 1);
  if (goal.args[0] == x && goal.args[1] == y) return goal.predicate;
  constexpr std::int32_t swapped[] = {equal, different, greater, at_least, less, at_most};
  return goal.args[0] == y && goal.args[1] == x ? swapped[goal.predicate] : -1;
}

}  // namespace

std::int32_t Facts::add_rule(Rule rule) {
  predicates_.push_back({rule.arity, -1, static_cast<std::int32_t>(rules_.size()), test_of(rule)});
  rules_.push_back(std::move(rule));
  return static_cast<std::int32_t>(predicates_.size()) - 1;
}

bool Facts::compare(std::int32_t comparison, std::int32_t left, std::int32_t right) const {
  if (comparison == equal) return left == right;
  if (comparison == different) return left != right;
  // NaN represents constants that are not numbers, so that comparisons with them are false.
  const double a = numbers_[static_cast<std::size_t>(left)];
  const double b = numbers_[static_cast<std::size_t>(right)];
  switch (comparison) {
    case less:
      return a < b;
    case at_most:
      return a <= b;
    case greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool Facts::holds(std::int32_t predicate, const std::int32_t* values, std::uint64_t& steps) {
  steps++;
  if (predicate < n_comparisons) return compare(predicate, values[0], values[1]);
  const Predicate& p = predicates_[static_cast<std::size_t>(predicate)];
  if (p.relation >= 0) {
    Relation& facts = relation(p);
    if (p.arity == 0) return facts.n_rows() > 0;
    const Index::Range range = facts.index(~std::uint64_t{0} >> (64 - p.arity)).find(values);
    return range.begin != range.end;
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

bool Facts::body_holds(const std::vector<Goal>& body, std::size_t position,
                       std::vector<std::int32_t>& bound, std::uint64_t& steps) {
  if (position == body.size()) return true;
  const Goal& goal = body[position];
  const Predicate& p = predicates_[static_cast<std::size_t>(goal.predicate)];
  std::vector<std::int32_t> values;
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < goal.args.size(); i++) {
    const Term t = goal.args[i];
    const std::int32_t value =
        kind_of(t) == constant ? number_of(t) : bound[static_cast<std::size_t>(number_of(t))];
    if (value == unbound) continue;
    values.push_back(value);
    key |= std::uint64_t{1} << i;
  }
  if (values.size() == goal.args.size())
    return holds(goal.predicate, values.data(), steps) != goal.negated &&
           body_holds(body, position + 1, bound, steps);
  if (p.relation < 0) {
    // An equation binds its open side; other comparisons and rules have no answer for open
    // arguments.
    if (goal.predicate != equal || goal.negated || values.size() != 1) return false;
    const auto open = static_cast<std::size_t>(number_of(goal.args[key & 1]));
    bound[open] = values[0];
    const bool found = body_holds(body, position + 1, bound, steps);
    bound[open] = unbound;
    return found;
  }
  Relation& facts = relation(p);
  Index::Range range{0, static_cast<std::uint32_t>(facts.n_rows())};
  const Index* index = key == 0 ? nullptr : &facts.index(key);
  if (index) range = index->find(values.data());
  bool found = false;
  for (std::uint32_t i = range.begin; i < range.end && !found; i++) {
    if (++steps % (1 << 16) == 0) watch.look();
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

// The training rows: their order by each feature, and the conversion between ranks and conditions.
#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "search.hpp"

namespace crosscut::rules {

void Table::prepare() {
  words = (n_rows + 63) / 64;
  of_class.assign(n_classes, Bits(words, 0));
  for (std::size_t i = 0; i < n_rows; i++)
    of_class[static_cast<std::size_t>(codes[i])][i / 64] |= std::uint64_t{1} << (i % 64);
  order.resize(n_features);
  position.resize(n_features * n_rows);
  for (std::size_t f = 0; f < n_features; f++) {
    const std::uint32_t* column_of = column(f);
    std::vector<std::size_t> next(n_values[f] + 2, 0);
    for (std::size_t i = 0; i < n_rows; i++) next[column_of[i] + 1]++;
    tied.push_back(
        std::any_of(next.begin(), next.end() - 1, [](std::size_t rows) { return rows > 1; }));
    std::partial_sum(next.begin(), next.end(), next.begin());
    order[f].resize(next[n_values[f]]);
    for (std::size_t i = 0; i < n_rows; i++) {
      // rows with a missing value have positions after the end of the order
      const std::size_t at = next[column_of[i]]++;
      position[f * n_rows + i] = static_cast<std::uint32_t>(at);
      if (at < order[f].size()) order[f][at] = static_cast<std::int32_t>(i);
    }
  }
}

// Counts the possible conditions on some rows: one per category, two per cut between values.
std::int64_t Table::n_conditions(const std::uint64_t* bits) const {
  std::int64_t total = 0;
  std::vector<std::uint8_t> seen;
  for (std::size_t f = 0; f < n_features; f++) {
    const std::uint32_t* column_of = column(f);
    seen.assign(n_values[f] + 1, 0);
    for (std::size_t w = 0; w < words; w++)
      for (std::uint64_t set = bits[w]; set; set &= set - 1)
        seen[column_of[w * 64 + static_cast<std::size_t>(std::countr_zero(set))]] = 1;
    const std::int64_t distinct = std::count(seen.begin(), seen.end() - 1, 1);
    total += nominal[f] ? distinct : 2 * std::max<std::int64_t>(distinct - 1, 0);
  }
  return total;
}

Condition Table::cut(std::int32_t feature, std::int32_t op, std::uint32_t rank,
                     std::uint32_t next) const {
  const auto& known = values[static_cast<std::size_t>(feature)];
  if (next == known.size()) return {feature, at_most, std::numeric_limits<double>::infinity()};
  const double below = known[rank];
  const double above = known[next];
  const double middle = below / 2 + above / 2;
  return {feature, op, middle == above ? below : middle};  // middle must be below `above`
}

std::uint32_t Table::rank_of(std::size_t feature, double value) const {
  if (nominal[feature]) return static_cast<std::uint32_t>(value);
  const auto& known = values[feature];
  const auto above = std::upper_bound(known.begin(), known.end(), value,
                                      [](double x, float y) { return x < static_cast<double>(y); });
  return static_cast<std::uint32_t>(above - known.begin()) - 1;
}

void Table::narrow(const Bits& rows, std::int32_t feature, std::int32_t op, std::uint32_t rank,
                   Bits& met) const {
  const auto f = static_cast<std::size_t>(feature);
  met.resize(words);
  CROSSCUT_DISPATCH(meet, column(f), n_rows, op, rank, n_values[f], rows.data(), met.data());
}

std::size_t Sorter::sort(const Table& table, std::size_t f, const std::vector<std::int32_t>& some,
                         std::int32_t* sorted) {
  const auto& order = table.order[f];
  if (order.empty()) return 0;
  return CROSSCUT_DISPATCH(sort_few, some.data(), some.size(),
                           table.position.data() + f * table.n_rows, order.data(), order.size(),
                           marks_.data(), lines_.data(), lines_.size(), sorted);
}

std::uint32_t Table::next_rank(const Bits& rows, std::size_t feature, std::uint32_t rank) const {
  const std::uint32_t* rank_of_row = column(feature);
  auto next = std::partition_point(order[feature].begin(), order[feature].end(),
                                   [&](std::int32_t row) { return rank_of_row[row] <= rank; });
  for (; next != order[feature].end(); ++next)
    if (rows[static_cast<std::size_t>(*next) / 64] >> (*next % 64) & 1) return rank_of_row[*next];
  return n_values[feature];
}

}  // namespace crosscut::rules

#include <algorithm>
#include <bit>
#include <numeric>

#include "rules.hpp"

namespace crosscut::rules {

void Table::prepare() {
  words = (n_rows + 63) / 64;
  order.resize(n_features);
  std::vector<std::size_t> first;
  for (std::size_t f = 0; f < n_features; f++) {
    if (nominal[f]) continue;
    const std::uint32_t* column_of = column(f);
    first.assign(n_values[f] + 2, 0);
    for (std::size_t i = 0; i < n_rows; i++) first[column_of[i] + 1]++;
    std::partial_sum(first.begin(), first.end(), first.begin());
    order[f].resize(first[n_values[f]]);
    for (std::size_t i = 0; i < n_rows; i++)
      if (column_of[i] < n_values[f]) order[f][first[column_of[i]]++] = static_cast<std::int32_t>(i);
  }
}

// Conditions that could be written about some rows: one per category, two per cut between neighbouring values.
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

}  // namespace crosscut::rules

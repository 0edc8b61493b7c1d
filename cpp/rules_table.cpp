#include <algorithm>
#include <bit>
#include <numeric>

#include "rules.hpp"

namespace crosscut::rules {

void Table::prepare() {
  words = (n_rows + 63) / 64;
  of_class.assign(n_classes, std::vector<std::uint64_t>(words, 0));
  for (std::size_t i = 0; i < n_rows; i++) of_class[static_cast<std::size_t>(codes[i])][i / 64] |= std::uint64_t{1} << (i % 64);
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

std::vector<std::uint64_t> Truth::narrowed(const std::vector<std::uint64_t>& rows, std::size_t n_rows, std::int32_t feature,
                                           std::int32_t op, std::uint32_t rank) {
  constexpr std::size_t most_kept = 1 << 24;  // words, that is 128 MiB
  const auto f = static_cast<std::size_t>(feature);
  const std::uint32_t* ranks = table_.column(f);
  const std::uint32_t missing = table_.n_values[f];
  const auto meets = [&](std::size_t row) {
    return op == equal ? ranks[row] == rank : op == at_most ? ranks[row] <= rank : ranks[row] > rank && ranks[row] < missing;
  };
  std::vector<std::uint64_t> result(rows.size(), 0);
  auto found = known_.find({feature, op, rank});
  if (found == known_.end() && n_rows * 2 < table_.n_rows) {  // not worth a look at all rows
    for (std::size_t w = 0; w < rows.size(); w++)
      for (std::uint64_t set = rows[w]; set; set &= set - 1)
        if (meets(w * 64 + static_cast<std::size_t>(std::countr_zero(set)))) result[w] |= set & (~set + 1);
    return result;
  }
  if (found == known_.end()) {
    if (known_.size() * table_.words > most_kept) known_.clear();
    std::vector<std::uint64_t> all(table_.words, 0);
    for (std::size_t row = 0; row < table_.n_rows; row++) all[row / 64] |= static_cast<std::uint64_t>(meets(row)) << (row % 64);
    found = known_.emplace(std::tuple{feature, op, rank}, std::move(all)).first;
  }
  for (std::size_t w = 0; w < rows.size(); w++) result[w] = rows[w] & found->second[w];
  return result;
}

}  // namespace crosscut::rules

// Finds rows that equal another row in every column and in the target.
//
// Rows are compared by 64-bit hashes in one table of open addressing. Two different rows among
// 200,000 have the same hash with a probability of about 1e-9, and then only a warning is wrong.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crosscut {

// Sets copied[r] for rows with a copy. `ranks` holds column after column.
inline void copied_rows(const std::uint32_t* ranks, std::size_t n_columns,
                        const std::uint64_t* target, std::size_t n_rows, bool* copied) {
  std::vector<std::uint64_t> hash(target, target + n_rows);
  for (std::size_t f = 0; f < n_columns; f++)
    for (std::size_t r = 0; r < n_rows; r++) {
      const std::uint64_t product = (hash[r] ^ ranks[f * n_rows + r]) * 0x9E3779B97F4A7C15u;
      hash[r] = product ^ (product >> 32);
    }
  const std::size_t mask = std::bit_ceil(2 * n_rows + 1) - 1;
  constexpr std::uint32_t none = 0xFFFFFFFFu;
  std::vector<std::uint32_t> first(mask + 1, none);  // the first row of each hash
  for (std::size_t r = 0; r < n_rows; r++) {
    std::size_t slot = hash[r] & mask;
    while (first[slot] != none && hash[first[slot]] != hash[r]) slot = (slot + 1) & mask;
    copied[r] = first[slot] != none;
    if (copied[r]) copied[first[slot]] = true;
    else first[slot] = static_cast<std::uint32_t>(r);
  }
}

}  // namespace crosscut

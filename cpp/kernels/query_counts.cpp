// Statistics of many tests at once: per test (a truth row) and cell (a set of examples: those of one class, or of one
// class in one fold) the number of examples of the node where the test is true.
#include <cstddef>
#include <cstdint>

#include "../query_cells.hpp"

namespace crosscut::CROSSCUT_LEVEL {

void count_cells(const std::uint64_t* rows, std::size_t words, const std::int32_t* queries, std::size_t n,
                 const query::Cell* cells, std::size_t n_cells, std::int32_t* counts) {
  for (std::size_t q = 0; q < n; q++) {
    const std::uint64_t* row = rows + static_cast<std::size_t>(queries[q]) * words;
    for (std::size_t c = 0; c < n_cells; c++) {
      std::uint64_t sum = 0;
      const std::uint64_t* bits = cells[c].bits;
      for (std::size_t w = cells[c].begin; w < cells[c].end; w++)
        sum += static_cast<std::uint64_t>(__builtin_popcountll(row[w] & bits[w]));
      counts[q * n_cells + c] = static_cast<std::int32_t>(sum);
    }
  }
}

}  // namespace crosscut::CROSSCUT_LEVEL

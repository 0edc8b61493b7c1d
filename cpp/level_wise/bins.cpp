// Bin numbers of a column's values: the number of edges below each value. Eight values are bisected
// together, with a fixed number of steps and without branches, so that the processor overlaps their
// memory accesses.
#include "bins.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/threads.hpp"

namespace crosscut {

template <class T>
std::int64_t bin_codes(const T* values, std::int64_t n, std::int64_t stride, const double* edges,
                       int n_edges, std::uint8_t missing, std::uint8_t* codes, int n_threads) {
  double padded[256];  // up to 255 edges, then +infinity
  for (int i = 0; i < 256; i++) padded[i] = i < n_edges ? edges[i] : INFINITY;
  int first_step = 1;
  while (first_step < n_edges + 1) first_step *= 2;
  first_step /= 2;
  std::atomic<std::int64_t> infinite{n};
  parallel_for(n, 1 << 14, n_threads, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t bad = n;
    for (std::int64_t i = begin; i < end; i += 8) {
      const int m = static_cast<int>(std::min<std::int64_t>(8, end - i));
      double x[8] = {};
      int at[8] = {};
      for (int j = 0; j < m; j++)
        x[j] = static_cast<double>(static_cast<float>(values[(i + j) * stride]));
      for (int step = first_step; step; step /= 2)
        for (int j = 0; j < 8; j++) at[j] += padded[at[j] + step - 1] < x[j] ? step : 0;
      for (int j = 0; j < m; j++) {
        codes[i + j] = x[j] == x[j] ? static_cast<std::uint8_t>(at[j]) : missing;
        if (x[j] - x[j] != 0 && x[j] == x[j]) bad = std::min(bad, i + j);
      }
    }
    for (std::int64_t known = infinite;
         bad < known && !infinite.compare_exchange_weak(known, bad);) {}
  });
  return infinite == n ? -1 : infinite.load();
}

template std::int64_t bin_codes(const float*, std::int64_t, std::int64_t, const double*, int,
                                std::uint8_t, std::uint8_t*, int);
template std::int64_t bin_codes(const double*, std::int64_t, std::int64_t, const double*, int,
                                std::uint8_t, std::uint8_t*, int);

}  // namespace crosscut

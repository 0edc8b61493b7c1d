// A loop in chunks, shared by the OpenMP threads where there are any; an exception of a chunk is thrown by the caller.
#pragma once
#include <algorithm>
#include <cstdint>
#include <exception>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace crosscut {

// Calls body(begin, end) for chunks of about `chunk` indices that cover 0..n. n_threads <= 0: as many as OpenMP offers.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t chunk, int n_threads, Body&& body) {
#ifdef _OPENMP
  const std::int64_t n_chunks = (n + chunk - 1) / chunk;
  const std::int64_t wanted = n_threads > 0 ? n_threads : omp_get_max_threads();
  const int threads = static_cast<int>(std::min(wanted, n_chunks));
  if (threads > 1) {
    std::exception_ptr error;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::int64_t c = 0; c < n_chunks; c++) {
      try {
        body(c * chunk, std::min(n, (c + 1) * chunk));
      } catch (...) {
#pragma omp critical(crosscut_parallel_for)
        error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
    return;
  }
#else
  (void)chunk;
  (void)n_threads;
#endif
  if (n > 0) body(std::int64_t{0}, n);
}

}  // namespace crosscut

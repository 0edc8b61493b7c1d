// Bin numbers of a column, given the edges of its bins.
#pragma once
#include <cstdint>

namespace crosscut {

// codes[i]: the number of edges below values[i · stride] (as float32), or `missing` for NaN. At
// most 255 edges, ascending. Returns the position of the first infinite value, or −1.
template <class T>
std::int64_t bin_codes(const T* values, std::int64_t n, std::int64_t stride, const double* edges,
                       int n_edges, std::uint8_t missing, std::uint8_t* codes, int n_threads);

}  // namespace crosscut

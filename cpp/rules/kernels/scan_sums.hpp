// Sums of lanes over rows, for scan.cpp: lines of 0/1 bytes are added, times the weights of their
// rows if there are any. Without weights, up to 255 rows are added in bytes.
#pragma once
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Scan;

// The sums of a group of lanes, a vector per column.
template <class T> struct Sums {
  using V = typename Lanes<T>::V;
  V of[256];
  V n(const Scan& s) const {
    V sum = of[0];
    for (int c = 1; c < s.n_columns; c++) sum += of[c];
    return sum;
  }
};

template <class T, class From> Sums<T> sums_at(const Scan& s, const From* line, std::size_t group) {
  Sums<T> sums;
  for (int c = 0; c < s.n_columns; c++)
    sums.of[c] = load<T>(line + static_cast<std::size_t>(c) * s.lanes() + group * W);
  return sums;
}

template <class T> Sums<T> minus(const Scan& s, const Sums<T>& x, const Sums<T>& y) {
  Sums<T> sums;
  for (int c = 0; c < s.n_columns; c++) sums.of[c] = x.of[c] - y.of[c];
  return sums;
}

template <int N>
void add_octets(const Scan& s, std::size_t from, std::size_t to, std::size_t offset,
                std::uint8_t* sums) {
  Octets total[N] = {};
  for (std::size_t i = from; i < to; i++) {
    const std::uint8_t* line = s.line(i) + offset;
    for (int k = 0; k < N; k++) total[k] += *reinterpret_cast<const Octets*>(line + 32 * k);
  }
  std::memcpy(sums + offset, total, sizeof total);
}

// Adds the lines of at most 255 rows; sums of weights are double.
void add_rows(const Scan& s, std::size_t from, std::size_t to, std::uint8_t* sums) {
  std::size_t offset = 0;
  for (; offset + 128 <= s.stride(); offset += 128) add_octets<4>(s, from, to, offset, sums);
  if (s.stride() - offset == 32) add_octets<1>(s, from, to, offset, sums);
  if (s.stride() - offset == 64) add_octets<2>(s, from, to, offset, sums);
  if (s.stride() - offset == 96) add_octets<3>(s, from, to, offset, sums);
}

void add_rows(const Scan& s, std::size_t from, std::size_t to, double* sums) {
  std::memset(sums, 0, sizeof(double) * s.stride());
  for (std::size_t i = from; i < to; i++) {
    const std::uint8_t* line = s.line(i);
    const double weight = s.weights[s.rows[i]];
    for (std::size_t k = 0; k < s.stride(); k++) sums[k] += weight * line[k];
  }
}

template <class T, class Part> void add(const Scan& s, const Part* part, T* total) {
  for (std::size_t k = 0; k < s.stride(); k += W)
    store(total + k, load<T>(total + k) + load<T>(part + k));
}

}  // namespace
}  // namespace crosscut::CROSSCUT_LEVEL

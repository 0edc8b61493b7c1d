// v · log2(v) of whole vectors, for bounds: the error is at most v · kLogError. With v = 2^k · m
// and m from √½ to √2, log2(v) is k + 2/ln 2 · (t + t³/3 + t⁵/5 + …), where t = (m − 1)/(m + 1).
// The terms after t⁹ sum to less than 2/ln 2 · t¹¹/(11 · (1 − t²)) < 1.1e-9. With weights, trees by
// entropy grow four times faster than with calls of log2() (AVX-512).
#pragma once
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr double kLogError = 1.2e-9;  // with the rounding of k + …

// v: not negative, finite
template <int W> CC_INLINE Vec<double, W> xlog_about(Vec<double, W> v) {
  using D = Vec<double, W>;
  using U = Vec<u64, W>;
  constexpr u64 kRoot = 0x3fe6a09e667f3bcd;  // √½
  constexpr u64 kBias = u64{1023} << 52;
  constexpr u64 kInteger = 0x4330000000000000;  // 2^52, whose last bits are an integer
  const U bits = (U)v;
  const U exponent = (bits - kRoot + kBias) >> 52;  // k + 1023
  const D m = (D)(bits - (exponent << 52) + kBias);
  const D k = (D)(exponent | kInteger) - (0x1p52 + 1023);
  const D t = (m - 1.0) / (m + 1.0);
  const D s = t * t;
  constexpr double kScale = 2.8853900817779268;  // 2/ln 2
  const D series = ((s * (kScale / 9) + kScale / 7) * s + kScale / 5) * s + kScale / 3;
  return v * (k + t * (series * s + kScale));
}

}  // namespace crosscut::CROSSCUT_LEVEL

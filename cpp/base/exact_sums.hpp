// Exact sums of doubles and of their products, as digits on a grid (docs/semantics.md), and the
// values computed from them, each rounded once. Integer sums do not depend on the order of rows or
// on threads.
#pragma once
#include "base/natural.hpp"

namespace crosscut {

// A number is Σ digit[d]·2^(unit + d·bits), without rounding. Sums of digits do not overflow.
struct DigitGrid {
  int unit, bits, n;
};

// Contribution of every row to exact sums. Classes: w. Regression: w·y, w and w·y·y.
struct ExactRows {
  DigitGrid grid[3];
  int width;                   // digits per row
  const std::int64_t* digits;  // [n_rows][width]; null if every row counts once
  const std::int64_t* row(std::size_t i) const {
    static constexpr std::int64_t once = 1;
    return digits ? digits + i * static_cast<std::size_t>(width) : &once;
  }
};

struct Integer {
  Natural size;
  bool negative = false;
};
Integer integer(const DigitGrid&, const i64* sum);

// Sums of one or two digits fit in 128 bits.
inline bool is_short(const DigitGrid& grid) { return grid.n <= 2; }

inline i128 short_integer(const DigitGrid& grid, const i64* sum) {
  return grid.n == 1
             ? sum[0]
             : static_cast<i128>(static_cast<u128>(static_cast<i128>(sum[1])) << grid.bits) +
                   sum[0];
}

double exact_value(const DigitGrid&, const i64* sum);  // rounded once
// a / b, rounded once
double exact_ratio(const DigitGrid&, const i64* a, const DigitGrid&, const i64* b);
// The variance (Σwy²·Σw − (Σwy)²) / (Σw)², rounded once; the sums are in the order of ExactRows.
double exact_variance(const ExactRows&, const i64* sums);

}  // namespace crosscut

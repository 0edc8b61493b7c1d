// Columns of numbers in one type.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "arrow.hpp"

namespace crosscut {

// As float32, where what is too large becomes infinite; of codes, negative ones become NaN. The stride is counted in numbers.
template <class T>
void to_floats(const T* from, std::ptrdiff_t stride, std::size_t n, bool are_codes, float* to);

// The numbers of a column, part after part, with NaN where they are missing.
template <class T, class To>
void copy_numbers(const ArrowColumn&, To* to);

}  // namespace crosscut

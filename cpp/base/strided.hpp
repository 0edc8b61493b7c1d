// A matrix of numbers with any strides, counted in elements, so that the user's array is read
// without a copy.
#pragma once
#include <cstddef>

namespace crosscut {

template <class T> struct Strided {
  const T* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_stride, column_stride;
};

}  // namespace crosscut

// A matrix of numbers with any strides, counted in elements: the user's own array, read where it
// lies.
#pragma once
#include <cstddef>

namespace crosscut {

template <class T>
struct Strided {
  const T* data;
  std::size_t n_rows, n_columns;
  std::ptrdiff_t row_stride, column_stride;
};

}  // namespace crosscut

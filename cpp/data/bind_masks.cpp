#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "masks.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Array = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// True if every number is at least low and below high; written so that the compiler can take several at once.
bool all_within(const Array<const std::int64_t>& numbers, std::int64_t low, std::int64_t high) {
  bool outside = false;
  for (std::size_t i = 0; i < numbers.shape(0); i++) outside |= numbers.data()[i] < low || numbers.data()[i] >= high;
  return !outside;
}

void check(const Array<const std::int64_t>& rows, std::size_t n_rows, unsigned bit) {
  if (bit > 15) throw std::invalid_argument("a mask has the bits 0 to 15");
  if (!all_within(rows, 0, static_cast<std::int64_t>(n_rows)))
    throw std::out_of_range("row numbers must be from 0 to " + std::to_string(n_rows) + " - 1");
}

}  // namespace

void bind_masks(nb::module_& m) {
  m.def(
      "mark_rows",
      [](Array<std::uint16_t> masks, unsigned bit, Array<const std::int64_t> rows) {
        check(rows, masks.shape(0), bit);
        return crosscut::mark_rows(masks.data(), static_cast<std::uint16_t>(1u << bit), rows.data(), rows.shape(0));
      },
      "masks"_a.noconvert(), "bit"_a, "rows"_a);
  m.def(
      "first_marked",
      [](Array<const std::uint16_t> masks, unsigned bit, Array<const std::int64_t> rows) {
        check(rows, masks.shape(0), bit);
        return crosscut::first_marked(masks.data(), static_cast<std::uint16_t>(1u << bit), rows.data(), rows.shape(0));
      },
      "masks"_a, "bit"_a, "rows"_a);
  m.def(
      "rows_by_fold",
      [](Array<const std::int64_t> folds, std::size_t n_folds, Array<std::int64_t> ordered, Array<std::int64_t> first) {
        if (!all_within(folds, -1, static_cast<std::int64_t>(n_folds)))
          throw std::invalid_argument("rows_by_fold: folds must be from -1 to n_folds - 1");
        if (ordered.shape(0) != folds.shape(0) || first.shape(0) != n_folds + 1)
          throw std::invalid_argument("rows_by_fold: ordered or first has the wrong length");
        crosscut::rows_by_fold(folds.data(), folds.shape(0), n_folds, ordered.data(), first.data());
      },
      "folds"_a, "n_folds"_a, "ordered"_a.noconvert(), "first"_a.noconvert());
}

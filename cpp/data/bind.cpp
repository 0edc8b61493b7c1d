// Bindings for ranks of columns and masks of tasks; all arguments are checked here.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>

#include "../arrays.hpp"
#include "masks.hpp"
#include "rank.hpp"

using namespace crosscut;

namespace {

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Place = std::optional<std::pair<std::ptrdiff_t, std::ptrdiff_t>>;

template <class T>
Cell rank_as(const AnyMatrix& matrix, std::size_t max_intervals, bool bins, const RankedColumns& out, int n_threads) {
  const Strided<T> strided{static_cast<const T*>(matrix.data()), matrix.shape(0), matrix.shape(1), matrix.stride(0), matrix.stride(1)};
  nb::gil_scoped_release release;
  return rank_columns(strided, max_intervals, bins, out, n_threads);
}

Place rank(const AnyMatrix& matrix, std::size_t max_intervals, bool bins, int n_threads, const Array<std::int32_t>& row,
           const Output<std::uint32_t, 2>& ranks, const Output<std::uint8_t, 2>& coarse, const Output<float, 2>& values,
           const Output<std::uint32_t, 2>& coarse_first, const Output<std::int32_t>& n_values, const Output<std::int32_t>& n_coarse,
           const Output<bool>& has_missing, const Output<bool>& close) {
  const std::size_t n = matrix.shape(0), rows = ranks.shape(0);
  need(n > 0 && n < 0x7FFFFFFFu, "rank_columns: from 1 to 2^31 - 2 rows can be ranked");
  need(max_intervals >= 2 && max_intervals <= 255, "rank_columns: max_intervals must be from 2 to 255");
  need(row.size() == matrix.shape(1), "rank_columns: row must have one entry per column");
  need(ranks.shape(1) == n && coarse.shape(1) == n && values.shape(1) == n,
       "rank_columns: ranks, coarse and values must have one entry per row of the matrix");
  need(coarse.shape(0) == rows && values.shape(0) == rows && coarse_first.shape(0) == rows && n_values.size() == rows &&
           n_coarse.size() == rows && has_missing.size() == rows && close.size() == rows && coarse_first.shape(1) == max_intervals + 1,
       "rank_columns: the results differ in shape");
  std::vector<bool> filled(rows);
  for (std::size_t f = 0; f < row.size(); f++) {
    need(row(f) >= 0 && static_cast<std::size_t>(row(f)) < rows, "rank_columns: row is out of range");
    need(!filled[static_cast<std::size_t>(row(f))], "rank_columns: two columns share a row");
    filled[static_cast<std::size_t>(row(f))] = true;
  }
  const RankedColumns out{row.data(),      ranks.data(),    coarse.data(),      values.data(), coarse_first.data(),
                          n_values.data(), n_coarse.data(), has_missing.data(), close.data()};
  const auto is = [&]<class T>(T) { return matrix.dtype() == nb::dtype<T>(); };
  Cell infinite;
  if (is(float{})) infinite = rank_as<float>(matrix, max_intervals, bins, out, n_threads);
  else if (is(double{})) infinite = rank_as<double>(matrix, max_intervals, bins, out, n_threads);
  else if (is(std::int64_t{})) infinite = rank_as<std::int64_t>(matrix, max_intervals, bins, out, n_threads);
  else if (is(bool{}) || is(std::uint8_t{})) infinite = rank_as<std::uint8_t>(matrix, max_intervals, bins, out, n_threads);
  else throw std::invalid_argument("rank_columns: the matrix must be float32, float64, int64, uint8 or bool");
  if (infinite.column < 0) return std::nullopt;
  return std::pair{infinite.column, infinite.row};
}

std::size_t join_ranks(const Array<std::uint32_t>& end, std::size_t max_intervals, const Output<std::uint32_t>& first) {
  need(max_intervals >= 2, "intervals: max_intervals must be at least 2");
  need(first.size() >= std::min(end.size(), max_intervals) + 1, "intervals: first is too short");
  need(std::is_sorted(end.data(), end.data() + end.size()), "intervals: end must ascend");
  return intervals(end.data(), end.size(), max_intervals, first.data());
}

std::uint16_t checked_bit(unsigned bit, const Array<std::int64_t>& rows, std::size_t n_rows) {
  need(bit <= 15, "a mask has the bits 0 to 15");
  if (!all_within(rows.data(), rows.size(), 0, static_cast<std::int64_t>(n_rows)))
    throw std::out_of_range("row numbers must be from 0 to " + std::to_string(n_rows) + " - 1");
  return static_cast<std::uint16_t>(1u << bit);
}

std::size_t mark(const Output<std::uint16_t>& masks, unsigned bit, const Array<std::int64_t>& rows) {
  return mark_rows(masks.data(), checked_bit(bit, rows, masks.size()), rows.data(), rows.size());
}

std::size_t find_marked(const Array<std::uint16_t>& masks, unsigned bit, const Array<std::int64_t>& rows) {
  return first_marked(masks.data(), checked_bit(bit, rows, masks.size()), rows.data(), rows.size());
}

void order_by_fold(const Array<std::int64_t>& folds, std::size_t n_folds, const Output<std::int64_t>& ordered, const Output<std::int64_t>& first) {
  need_within(folds, -1, static_cast<std::int64_t>(n_folds), "rows_by_fold: folds must be from -1 to n_folds - 1");
  need(ordered.size() == folds.size() && first.size() == n_folds + 1, "rows_by_fold: ordered or first has the wrong length");
  rows_by_fold(folds.data(), folds.size(), n_folds, ordered.data(), first.data());
}

}  // namespace

void bind_data(nb::module_& m) {
  m.def("rank_columns", &rank, "matrix"_a, "max_intervals"_a, "bins"_a, "n_threads"_a, "row"_a, "ranks"_a.noconvert(), "coarse"_a.noconvert(),
        "values"_a.noconvert(), "coarse_first"_a.noconvert(), "n_values"_a.noconvert(), "n_coarse"_a.noconvert(), "has_missing"_a.noconvert(),
        "close"_a.noconvert());
  m.def("intervals", &join_ranks, "end"_a, "max_intervals"_a, "first"_a.noconvert());
  m.def("mark_rows", &mark, "masks"_a.noconvert(), "bit"_a, "rows"_a);
  m.def("first_marked", &find_marked, "masks"_a, "bit"_a, "rows"_a);
  m.def("rows_by_fold", &order_by_fold, "folds"_a, "n_folds"_a, "ordered"_a.noconvert(), "first"_a.noconvert());
}

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "rank.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T, std::size_t Dimensions>
using Array = nb::ndarray<T, nb::ndim<Dimensions>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

void require(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(otherwise);
}

template <class T>
crosscut::Cell rank(const Matrix& matrix, std::size_t max_intervals, bool bins, const crosscut::RankedColumns& out,
                    int n_threads) {
  const crosscut::Strided<T> strided{static_cast<const T*>(matrix.data()), matrix.shape(0), matrix.shape(1),
                                     matrix.stride(0), matrix.stride(1)};
  nb::gil_scoped_release release;
  return crosscut::rank_columns(strided, max_intervals, bins, out, n_threads);
}

}  // namespace

void bind_rank(nb::module_& m) {
  m.def(
      "rank_columns",
      [](Matrix matrix, std::size_t max_intervals, bool bins, int n_threads, Array<const std::int32_t, 1> row,
         Array<std::uint32_t, 2> ranks, Array<std::uint8_t, 2> coarse, Array<float, 2> values,
         Array<std::uint32_t, 2> coarse_first, Array<std::int32_t, 1> n_values, Array<std::int32_t, 1> n_coarse,
         Array<bool, 1> has_missing, Array<bool, 1> close) -> std::optional<std::pair<std::ptrdiff_t, std::ptrdiff_t>> {
        const std::size_t n = matrix.shape(0), rows = ranks.shape(0);
        require(n > 0 && n < 0x7FFFFFFFu, "rank_columns: from 1 to 2^31 - 2 rows can be ranked");
        require(max_intervals >= 2 && max_intervals <= 255, "rank_columns: max_intervals must be from 2 to 255");
        require(row.shape(0) == matrix.shape(1), "rank_columns: row must have one entry per column");
        require(ranks.shape(1) == n && coarse.shape(1) == n && values.shape(1) == n,
                "rank_columns: ranks, coarse and values must have one entry per row of the matrix");
        require(coarse.shape(0) == rows && values.shape(0) == rows && coarse_first.shape(0) == rows &&
                    n_values.shape(0) == rows && n_coarse.shape(0) == rows && has_missing.shape(0) == rows &&
                    close.shape(0) == rows && coarse_first.shape(1) == max_intervals + 1,
                "rank_columns: the results differ in shape");
        std::vector<bool> filled(rows);
        for (std::size_t f = 0; f < row.shape(0); f++) {
          require(row(f) >= 0 && static_cast<std::size_t>(row(f)) < rows, "rank_columns: row is out of range");
          require(!filled[static_cast<std::size_t>(row(f))], "rank_columns: two columns share a row");
          filled[static_cast<std::size_t>(row(f))] = true;
        }
        const crosscut::RankedColumns out{row.data(),           ranks.data(),    coarse.data(),
                                          values.data(),        coarse_first.data(), n_values.data(),
                                          n_coarse.data(),      has_missing.data(), close.data()};
        crosscut::Cell infinite;
        if (matrix.dtype() == nb::dtype<float>()) infinite = rank<float>(matrix, max_intervals, bins, out, n_threads);
        else if (matrix.dtype() == nb::dtype<double>()) infinite = rank<double>(matrix, max_intervals, bins, out, n_threads);
        else if (matrix.dtype() == nb::dtype<std::int64_t>())
          infinite = rank<std::int64_t>(matrix, max_intervals, bins, out, n_threads);
        else if (matrix.dtype() == nb::dtype<bool>() || matrix.dtype() == nb::dtype<std::uint8_t>())
          infinite = rank<std::uint8_t>(matrix, max_intervals, bins, out, n_threads);
        else throw std::invalid_argument("rank_columns: the matrix must be float32, float64, int64, uint8 or bool");
        if (infinite.column < 0) return std::nullopt;
        return std::pair{infinite.column, infinite.row};
      },
      "matrix"_a, "max_intervals"_a, "bins"_a, "n_threads"_a, "row"_a, "ranks"_a.noconvert(), "coarse"_a.noconvert(),
      "values"_a.noconvert(), "coarse_first"_a.noconvert(), "n_values"_a.noconvert(), "n_coarse"_a.noconvert(),
      "has_missing"_a.noconvert(), "close"_a.noconvert());
  m.def(
      "intervals",
      [](Array<const std::uint32_t, 1> end, std::size_t max_intervals, Array<std::uint32_t, 1> first) {
        require(max_intervals >= 2, "intervals: max_intervals must be at least 2");
        require(first.shape(0) >= std::min(end.shape(0), max_intervals) + 1, "intervals: first is too short");
        require(std::is_sorted(end.data(), end.data() + end.shape(0)), "intervals: end must ascend");
        return crosscut::intervals(end.data(), end.shape(0), max_intervals, first.data());
      },
      "end"_a, "max_intervals"_a, "first"_a.noconvert());
}

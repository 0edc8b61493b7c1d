// Bindings for ranks of columns, classes of rows and masks of tasks. They check all arguments,
// because the functions behind them trust theirs.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>

#include "base/arrays.hpp"
#include "base/huge_pages.hpp"
#include "classes.hpp"
#include "copied_rows.hpp"
#include "grid.hpp"
#include "masks.hpp"
#include "rank.hpp"

using namespace crosscut;

namespace {

using Place = std::optional<std::pair<std::ptrdiff_t, std::ptrdiff_t>>;

Place rank(const AnyMatrix& matrix, std::size_t max_intervals, bool bins, int n_threads,
           const Array<std::int32_t>& n_categories,
           const std::optional<Output<std::uint32_t, 2>>& ranks,
           const Output<std::uint8_t, 2>& coarse, const Output<float, 2>& values,
           const Output<std::uint32_t, 2>& coarse_first, const Output<std::int32_t>& n_values,
           const Output<std::int32_t>& n_coarse, const Output<std::int64_t>& n_missing,
           const Output<std::uint32_t>& close) {
  const std::size_t n = matrix.shape(0), F = matrix.shape(1);
  need(n > 0 && n < 0x7FFFFFFFu, "rank_columns: the number of rows must be from 1 to 2^31 - 2");
  need(max_intervals >= 2 && max_intervals <= max_coarse,
       "rank_columns: max_intervals must be from 2 to 255");
  need_within(n_categories, -1, max_categories + 1,
              "rank_columns: a column has at most 2**24 categories");
  need(coarse.shape(1) == n && values.shape(1) == (bins ? 2 * max_coarse : n),
       "rank_columns: coarse and values must have one entry per row of the matrix; with "
       "bins, values have 510");
  if (ranks)
    need(ranks->shape(0) == F && ranks->shape(1) == n,
         "rank_columns: ranks must have the shape of coarse");
  else
    need(bins && std::all_of(n_categories.data(), n_categories.data() + n_categories.size(),
                             [](std::int32_t c) { return c <= std::int32_t{max_coarse}; }),
         "rank_columns: ranks can be left out only with bins and at most 255 categories");
  need(n_categories.size() == F && coarse.shape(0) == F && values.shape(0) == F &&
           coarse_first.shape(0) == F && n_values.size() == F && n_coarse.size() == F &&
           n_missing.size() == F && close.size() == F && coarse_first.shape(1) == max_coarse + 1,
       "rank_columns: n_categories and the results must have one entry per column");
  const RankedColumns out{n_categories.data(), ranks ? ranks->data() : nullptr,
                          coarse.data(),       values.data(),
                          coarse_first.data(), n_values.data(),
                          n_coarse.data(),     n_missing.data(),
                          close.data()};
  const Cell infinite = with_numbers(matrix, [&](const auto& strided) {
    nb::gil_scoped_release release;
    return rank_columns(strided, max_intervals, bins, out, n_threads);
  });
  if (infinite.column < 0) return std::nullopt;
  return std::pair{infinite.column, infinite.row};
}

std::size_t join_ranks(const Array<std::uint32_t>& end, std::size_t max_intervals,
                       const Output<std::uint32_t>& first) {
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

std::size_t mark(const Output<std::uint16_t>& masks, unsigned bit,
                 const Array<std::int64_t>& rows) {
  return mark_rows(masks.data(), checked_bit(bit, rows, masks.size()), rows.data(), rows.size());
}

std::size_t find_marked(const Array<std::uint16_t>& masks, unsigned bit,
                        const Array<std::int64_t>& rows) {
  return first_marked(masks.data(), checked_bit(bit, rows, masks.size()), rows.data(), rows.size());
}

// Returns the offsets of the folds in `ordered`. Folds numbered beyond the number of rows are
// merged, because gaps before them make the input invalid anyway.
std::vector<std::int64_t> order_by_fold(const Array<std::int64_t>& folds,
                                        const Output<std::int64_t>& ordered, int n_threads) {
  const std::size_t n = folds.size();
  need(ordered.size() == n, "rows_by_fold: ordered must have one entry per row");
  const std::int64_t* begin = folds.data();
  std::int64_t low = 0, last = -1;
  for (std::size_t r = 0; r < n; r++) {
    low = std::min(low, begin[r]);
    last = std::max(last, begin[r]);
  }
  need(last >= 0 && low >= -1,
       "folds must be numbers from 0, or -1 for rows that train every task");
  std::vector<std::int64_t> clipped;
  if (last > static_cast<std::int64_t>(n))
    for (std::size_t r = 0; r < n; r++)
      clipped.push_back(std::min(begin[r], static_cast<std::int64_t>(n)));
  std::vector<std::int64_t> first(
      static_cast<std::size_t>(std::min(last, static_cast<std::int64_t>(n))) + 2);
  rows_by_fold(clipped.empty() ? begin : clipped.data(), n, first.size() - 1, ordered.data(),
               first.data(), n_threads);
  return first;
}

nb::object mask_folds(const Array<std::int64_t>& folds, std::int64_t n_folds,
                      const Array<std::int64_t>& left_out, const Array<std::int64_t>& first,
                      int n_threads) {
  need(first.size() > 0, "masks_without: first must have n_tasks + 1 entries");
  const std::size_t n = folds.size(), n_tasks = first.size() - 1;
  const std::size_t n_blocks = (n_tasks + kBlock - 1) / kBlock;
  need_offsets(first, n_tasks, left_out.size(),
               "masks_without: first must run from 0 to the number of folds left out");
  need(n_folds >= 0 && n_folds <= static_cast<std::int64_t>(n),
       "masks_without: n_folds must be at most the number of rows");
  need_within(folds, -1, n_folds, "masks_without: folds must be from -1 to n_folds - 1");
  need_within(left_out, 0, n_folds, "masks_without: left_out must name folds");
  std::unique_ptr<std::uint16_t[]> masks = new_array<std::uint16_t>(n_blocks * n);
  masks_without(folds.data(), n, static_cast<std::size_t>(n_folds), left_out.data(), first.data(),
                n_tasks, masks.get(), n_threads);
  return nb::cast(give(std::move(masks), {n_blocks, n}));
}

constexpr std::int64_t kMaxClasses = 1 << 24;

// Returns the classes, or None if the range of the labels exceeds max_span.
std::optional<std::vector<std::int64_t>> number_classes(const Array<std::int64_t>& labels,
                                                        std::int64_t max_span,
                                                        const Output<std::int32_t>& codes,
                                                        int n_threads) {
  need(labels.size() > 0 && codes.size() == labels.size(),
       "code_classes: codes must have one entry per label, and there must be one");
  need(max_span >= 0 && max_span <= kMaxClasses, "code_classes: max_span must be from 0 to 2**24");
  std::vector<std::int64_t> classes;
  if (!code_classes(labels.data(), labels.size(), max_span, classes, codes.data(), n_threads))
    return std::nullopt;
  return classes;
}

std::optional<std::pair<int, int>> find_bits(const Array<double>& numbers) {
  const Bits bits = bits_of(numbers.data(), numbers.size());
  if (bits.low > bits.high) return std::nullopt;
  return std::pair{bits.low, bits.high};
}

nb::tuple find_spread(const Array<double>& numbers, double centre) {
  const Spread spread = spread_of(numbers.data(), numbers.size(), centre);
  return nb::make_tuple(spread.sum, spread.total, spread.whole);
}

nb::tuple on_grid(const Array<double>& numbers, double centre, int exponent) {
  const std::size_t n = numbers.size();
  std::unique_ptr<double[]> integers = new_array<double>(n);
  const bool exact = put_on_grid(numbers.data(), n, centre, exponent, integers.get());
  return nb::make_tuple(give(std::move(integers), {n}), exact);
}

// Fills the stratified folds; returns the number of rows of each class.
std::vector<std::int64_t> stratify(const Array<std::int32_t>& codes, std::size_t n_classes,
                                   std::int64_t n_folds, const Output<std::int64_t>& folds,
                                   const nb::object& shuffle, int n_threads) {
  need_within(codes, 0, static_cast<std::int64_t>(n_classes),
              "deal_folds: codes must be from 0 to n_classes - 1");
  need(n_classes <= static_cast<std::size_t>(kMaxClasses),
       "deal_folds: n_classes must be at most 2**24");
  need(
      n_folds > 0 && n_folds <= static_cast<std::int64_t>(codes.size()) &&
          folds.size() == codes.size(),
      "deal_folds: n_folds must be from 1 to the number of rows, and folds have one entry per row");
  Shuffle mix;
  if (!shuffle.is_none())
    mix = [&](std::int64_t* part, std::size_t n) {
      // `reference`: shuffle must see this memory, not a copy
      shuffle(nb::cast(nb::ndarray<nb::numpy, std::int64_t>(part, {n}, nb::handle()),
                       nb::rv_policy::reference));
    };
  return deal_folds(codes.data(), codes.size(), n_classes, n_folds, mix, folds.data(), n_threads);
}

// Fills each row's fold like scikit-learn's KFold: consecutive parts, the larger ones first.
void cut_rows(std::size_t n_folds, const Output<std::int64_t>& folds) {
  const std::size_t n = folds.size();
  need(n_folds > 0 && n_folds <= n, "cut_folds: n_folds must be from 1 to the number of rows");
  std::int64_t* to = folds.data();
  for (std::size_t fold = 0; fold < n_folds; fold++)
    to = std::fill_n(to, n / n_folds + (fold < n % n_folds), static_cast<std::int64_t>(fold));
}

void find_copies(const Matrix<std::uint32_t>& ranks, const Array<std::uint64_t>& target,
                 const Output<bool>& copied) {
  const std::size_t n = target.size();
  need(n < 0x7FFFFFFFu && ranks.shape(1) == n && copied.size() == n,
       "copied_rows: ranks, target and copied must have one entry per row, at most 2^31 - 2");
  copied_rows(ranks.data(), ranks.shape(0), target.data(), n, copied.data());
}

}  // namespace

void bind_data(nb::module_& m) {
  m.def("rank_columns", &rank, "matrix"_a, "max_intervals"_a, "bins"_a, "n_threads"_a,
        "n_categories"_a, "ranks"_a.noconvert().none(), "coarse"_a.noconvert(),
        "values"_a.noconvert(), "coarse_first"_a.noconvert(), "n_values"_a.noconvert(),
        "n_coarse"_a.noconvert(), "n_missing"_a.noconvert(), "close"_a.noconvert());
  m.def("intervals", &join_ranks, "end"_a, "max_intervals"_a, "first"_a.noconvert());
  m.def("bits_of", &find_bits, "numbers"_a);
  m.def("spread_of", &find_spread, "numbers"_a, "centre"_a);
  m.def("on_grid", &on_grid, "numbers"_a, "centre"_a, "exponent"_a);
  m.def("code_classes", &number_classes, "labels"_a, "max_span"_a, "codes"_a.noconvert(),
        "n_threads"_a);
  m.def("cut_folds", &cut_rows, "n_folds"_a, "folds"_a.noconvert());
  m.def("deal_folds", &stratify, "codes"_a, "n_classes"_a, "n_folds"_a, "folds"_a.noconvert(),
        "shuffle"_a.none(), "n_threads"_a);
  m.def("copied_rows", &find_copies, "ranks"_a, "target"_a, "copied"_a.noconvert());
  m.def("mark_rows", &mark, "masks"_a.noconvert(), "bit"_a, "rows"_a);
  m.def("first_marked", &find_marked, "masks"_a, "bit"_a, "rows"_a);
  m.def("rows_by_fold", &order_by_fold, "folds"_a, "ordered"_a.noconvert(), "n_threads"_a);
  m.def("masks_without", &mask_folds, "folds"_a, "n_folds"_a, "left_out"_a, "first"_a,
        "n_threads"_a);
}

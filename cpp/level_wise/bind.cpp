// Bindings for level-wise growth. They check all arguments.
#include <nanobind/stl/optional.h>

#include <bit>
#include <numeric>
#include <optional>

#include "base/arrays.hpp"
#include "base/bind_exact.hpp"
#include "bins.hpp"
#include "choose.hpp"
#include "pass.hpp"

using namespace crosscut;

namespace {

// The arrays of crosscut.engines.stream.bundle.flat_bundles. Children must come after their
// parents, so that every walk ends.
struct Bundles : Held<BundleForest> {
  template <class T> const T* read(const nb::dict& d, const char* name, std::size_t n) {
    const auto array = nb::cast<Array<T>>(d[name]);
    if (array.size() != n)
      throw std::invalid_argument(std::string(name) + " must have " + std::to_string(n) +
                                  " entries");
    return hold(array);
  }
  Bundles(const nb::dict& d, int n_columns, const StatisticsShape& shape, std::size_t n_statistics,
          std::optional<std::size_t> n_ranges) {
    const auto size_of = [&](const char* name) { return nb::len(nb::object(d[name])); };
    const std::size_t B = size_of("place"), S = size_of("feature"), C = size_of("child");
    need(B > 0, "there must be a bundle");
    n_bundles = B;
    place = reinterpret_cast<const Place*>(read<std::uint8_t>(d, "place", B));
    split_start = read<std::int64_t>(d, "split_start", B + 1);
    feature = read<std::int32_t>(d, "feature", S);
    child_start = read<std::int64_t>(d, "child_start", S + 1);
    child = read<std::int32_t>(d, "child", C);
    const auto masks = nb::cast<Matrix<std::uint64_t>>(d["table"]);
    need(masks.shape(0) == C && masks.shape(1) == kCodes, "table must have 256 masks per child");
    table = hold(masks);
    lanes = read<std::uint64_t>(d, "lanes", B);
    first_column = read<std::int32_t>(d, "first_column", B);
    end_column = read<std::int32_t>(d, "end_column", B);
    offset = read<std::int64_t>(d, "offset", B);
    range_offset = read<std::int64_t>(d, "range_offset", B);
    need_offsets(nb::cast<Array<std::int64_t>>(d["split_start"]), B, S,
                 "split_start must run from 0 to the number of splits");
    need_offsets(nb::cast<Array<std::int64_t>>(d["child_start"]), S, C,
                 "child_start must run from 0 to the number of children");
    for (std::size_t b = 0; b < B; b++) {
      need(place[b] <= Place::gathered, "place must be from 0 to 3");
      for (std::int64_t s = split_start[b]; s < split_start[b + 1]; s++) {
        need(feature[s] >= 0 && feature[s] < n_columns, "feature must be a column");
        for (std::int64_t c = child_start[s]; c < child_start[s + 1]; c++)
          need(child[c] > static_cast<std::int64_t>(b) && child[c] < static_cast<std::int64_t>(B),
               "children must come after their parents");
      }
      if (place[b] != Place::counted) continue;
      need(first_column[b] >= 0 && first_column[b] <= end_column[b] && end_column[b] <= n_columns,
           "first_column and end_column must be a range of columns");
      const int L = std::popcount(lanes[b]);
      need(L > 0, "lanes must not be empty");
      const std::int64_t size =
          (shape.first_bin[end_column[b]] - shape.first_bin[first_column[b]]) * n_cells(L) *
          shape.n_channels;
      need(offset[b] >= 0 && offset[b] <= static_cast<std::int64_t>(n_statistics) - size,
           "offset must leave room in statistics");
      if (n_ranges)
        need(range_offset[b] >= 0 &&
                 range_offset[b] <= static_cast<std::int64_t>(*n_ranges) - 2 * n_range_cells(L),
             "range_offset must leave room in ranges");
    }
  }
};

StatisticsShape checked_shape(const Array<std::int64_t>& first_bin, int n_columns, int n_channels) {
  need(first_bin.size() == static_cast<std::size_t>(n_columns) + 1 && first_bin.data()[0] == 0,
       "first_bin must have one entry per column, and the end");
  for (int f = 0; f < n_columns; f++) {
    const std::int64_t first = first_bin.data()[f], end = first_bin.data()[f + 1];
    need(first >= 0 && end > first && end - first <= kCodes,
         "a column must have 1 to 256 bins, the one of missing values among them");
  }
  need(n_channels >= 1 && n_channels <= 1 << 20, "n_channels must be from 1");
  return {first_bin.data(), n_channels};
}

template <class T>
nb::list pass_batch(const nb::dict& bundles, const Matrix<std::uint8_t>& codes,
                    const Array<std::uint64_t>& masks, const Array<std::int32_t>& slot,
                    const std::optional<Matrix<std::int64_t>>& amounts,
                    const std::optional<Array<double>>& target,
                    const Array<std::int64_t>& first_bin, int n_channels,
                    const Output<T>& statistics, const std::optional<Output<double>>& ranges,
                    int n_threads) {
  const std::size_t N = codes.shape(1);
  const int F = static_cast<int>(codes.shape(0));
  need(N < (std::size_t{1} << 31), "a batch has at most 2^31 rows");
  const StatisticsShape shape = checked_shape(first_bin, F, n_channels);
  const Bundles forest(bundles, F, shape, statistics.size(),
                       ranges ? std::optional(ranges->size()) : std::nullopt);
  need(masks.size() == N && slot.size() == N, "masks and slot must have one entry per row");
  need(!amounts || amounts->shape(0) == N, "amounts must have one line per row");
  need(ranges.has_value() == target.has_value() && (!target || target->size() == N),
       "target goes with ranges, and has one entry per row");
  const int A = amounts ? static_cast<int>(amounts->shape(1)) : 0;
  need(!A || (n_channels - 1) % A == 0, "amounts must be those of a channel");
  const int slots = A ? (n_channels - 1) / A : n_channels;
  need_within(slot, 0, slots, "slot must be below the number of channels");
  for (int f = 0; f < F; f++)
    need(largest(codes.data() + static_cast<std::size_t>(f) * N, N) <
             shape.first_bin[f + 1] - shape.first_bin[f],
         "codes must be below the number of bins");
  const BatchRows rows{N,
                       F,
                       codes.data(),
                       masks.data(),
                       slot.data(),
                       amounts ? amounts->data() : nullptr,
                       A,
                       target ? target->data() : nullptr};
  std::vector<GatheredRows> gathered;
  {
    nb::gil_scoped_release release;
    add_batch<T>(forest, rows, shape, statistics.data(), ranges ? ranges->data() : nullptr,
                 n_threads, gathered);
  }
  nb::list out;
  for (const GatheredRows& g : gathered)
    out.append(nb::make_tuple(g.bundle, give(g.rows), give(g.masks)));
  return out;
}

// Checks that statistics can come from passes. In every column, a row adds 1 to the count and less
// than 2^bits to the digits of one bin, and the sums of all rows have at most 61 bits.
template <class T>
void need_sums(const ChoiceProblem& problem, const T* statistics, int first, int end, int L) {
  const std::size_t lanes = static_cast<std::size_t>(L),
                    C = static_cast<std::size_t>(problem.shape.n_channels);
  const std::size_t n_counts = problem.counted ? C : 1,
                    width = static_cast<std::size_t>(problem.exact.width);
  const int bits = std::max(problem.exact.grid[0].bits, problem.exact.grid[1].bits);
  // 2^44 rows: more than any stream has
  const auto most = static_cast<std::int64_t>(most_rows(problem.exact, std::min(61, bits + 44)));
  std::vector<std::int64_t> node, rows, digits;
  for (int f = first; f < end; f++) {
    rows.assign(lanes, 0);
    for (std::int64_t b = problem.shape.first_bin[f]; b < problem.shape.first_bin[f + 1];
         b++, statistics += C * lanes)
      for (std::size_t lane = 0; lane < lanes; lane++) {
        const auto at = [&](std::size_t c) {
          return static_cast<std::int64_t>(statistics[c * lanes + lane]);
        };
        std::int64_t n = 0;
        for (std::size_t c = 0; c < n_counts; c++)
          need(at(c) >= 0 && at(c) <= most && (n += at(c)) <= most, "statistics must count rows");
        need((rows[lane] += n) <= most, "statistics must count rows");
        digits.assign(width, 0);
        for (std::size_t c = n_counts; c < C; c++) {
          const std::int64_t v = at(c), end_of_digit = n << bits;
          need(v >= -end_of_digit && v <= end_of_digit &&
                   (digits[(c - 1) % width] += v < 0 ? -v : v) <= end_of_digit,
               "statistics must be sums of digits of the rows they count");
        }
      }
    if (f == first) node = rows;
    need(rows == node, "statistics must count the same rows in every column");
  }
}

nb::tuple to_tuple(const Branch& b) { return nb::make_tuple(b.n_rows, give(b.stats)); }

template <class T>
nb::list choose(const Array<T>& statistics, const Array<std::int64_t>& first_bin, int first_column,
                int end_column, const Array<bool>& nominal, int n_channels,
                const std::string& criterion, int n_classes, const nb::list& grids, bool multiway,
                const Array<std::int64_t>& min_leaf) {
  const int F = static_cast<int>(nominal.size()), L = static_cast<int>(min_leaf.size());
  const StatisticsShape shape = checked_shape(first_bin, F, n_channels);
  need(first_column >= 0 && first_column < end_column && end_column <= F,
       "first_column and end_column must be a range of columns");
  need(L >= 1 && L <= 64, "min_leaf must have 1 to 64 entries");
  const std::int64_t bins = shape.first_bin[end_column] - shape.first_bin[first_column];
  need(static_cast<std::int64_t>(statistics.size()) == bins * n_channels * L,
       "statistics must be those of one bundle");
  const bool counted = nb::len(grids) == 0;
  const ExactRows exact = counted ? ExactRows{} : grids_of(grids, n_classes ? 1 : 2);
  const ChoiceProblem problem{&criterion_named(criterion.c_str()),
                              n_classes,
                              counted,
                              exact,
                              multiway,
                              nominal.data(),
                              shape};
  need(n_classes >= 0 && n_classes <= 65535, "n_classes must be from 0 to 65535");
  need_criterion_for(*problem.criterion, n_classes);
  need(n_channels == (counted ? n_classes : 1 + (n_classes ? n_classes : 1) * exact.width) &&
           (n_classes || !counted),
       "n_channels must be what the statistics of this kind have");
  need_sums(problem, statistics.data(), first_column, end_column, L);
  std::vector<Choice> choices;
  {
    nb::gil_scoped_release release;
    choices =
        choose_tests<T>(problem, statistics.data(), first_column, end_column, L, min_leaf.data());
  }
  nb::list out;
  for (const Choice& c : choices) {
    nb::list branches;
    for (const Branch& b : c.branches) branches.append(to_tuple(b));
    const auto bytes = [](const std::vector<std::uint64_t>& words) {
      return nb::bytes(reinterpret_cast<const char*>(words.data()), 8 * words.size());
    };
    const nb::tuple node = nb::make_tuple(c.node.n_rows, give(c.node.stats), c.weight);
    out.append(nb::make_tuple(node, nb::make_tuple(c.quality, bytes(c.above), bytes(c.below)),
                              c.improvement, c.feature, c.missing, c.cut, give(c.branch_of),
                              branches));
  }
  return out;
}

template <class T> void to_lanes(const Output<T>& statistics, int n_lanes) {
  need(n_lanes >= 1 && n_lanes <= 64, "n_lanes must be from 1 to 64");
  need(statistics.size() % static_cast<std::size_t>(n_cells(n_lanes)) == 0,
       "statistics must have n_lanes + 1 cells per channel");
  nb::gil_scoped_release release;
  cells_to_lanes<T>(statistics.data(), statistics.size(), n_lanes);
}

template <class T>
std::int64_t code_column(const Aligned<nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>>& values,
                         const Array<double>& edges, int missing, const Output<std::uint8_t>& codes,
                         int n_threads) {
  need(codes.size() == values.size(), "codes must have one entry per value");
  need(edges.size() <= 255 && std::is_sorted(edges.data(), edges.data() + edges.size()),
       "edges must ascend, at most 255 of them");
  need(missing >= 0 && missing < kCodes, "missing must be from 0 to 255");
  nb::gil_scoped_release release;
  return bin_codes<T>(values.data(), static_cast<std::int64_t>(values.size()), values.stride(0),
                      edges.data(), static_cast<int>(edges.size()),
                      static_cast<std::uint8_t>(missing), codes.data(), n_threads);
}

template <class T> void define(nb::module_& m) {
  m.def("pass_batch", &pass_batch<T>, "bundles"_a, "codes"_a, "masks"_a, "slot"_a,
        "amounts"_a.none(), "target"_a.none(), "first_bin"_a, "n_channels"_a,
        "statistics"_a.noconvert(), "ranges"_a.noconvert().none(), "n_threads"_a);
  m.def("choose_tests", &choose<T>, "statistics"_a.noconvert(), "first_bin"_a, "first_column"_a,
        "end_column"_a, "nominal"_a, "n_channels"_a, "criterion"_a, "n_classes"_a, "grids"_a,
        "multiway"_a, "min_leaf"_a);
  m.def("cells_to_lanes", &to_lanes<T>, "statistics"_a.noconvert(), "n_lanes"_a);
}

}  // namespace

void bind_level_wise(nb::module_& m) {
  define<std::int32_t>(m);
  define<std::int64_t>(m);
  m.def("bin_codes", &code_column<float>, "values"_a.noconvert(), "edges"_a, "missing"_a,
        "codes"_a.noconvert(), "n_threads"_a);
  m.def("bin_codes", &code_column<double>, "values"_a, "edges"_a, "missing"_a,
        "codes"_a.noconvert(), "n_threads"_a);
}

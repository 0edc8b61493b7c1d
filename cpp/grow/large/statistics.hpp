// Statistics of a large bundle per coarse interval (or category) and lane.
// A fold row trains every task but one. It adds one number to the cell of that task; then S(T_i) =
// S(D) − S(D_i) (the paper, 2.2.2) gives all lanes at once. Mixed rows, which more tasks lack, are
// then subtracted from these; if most rows are mixed, all are added by mask instead.
// If lanes of a bundle lack only few rows of their parent's, these rows are gone: they are
// subtracted from the parent's statistics (kGone).
#pragma once
#include "codes.hpp"
#include "grow/criteria/running_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// How the rows of a bundle are counted, the same for all columns.
struct CountedRows {
  u32 n;
  bool masked;  // all rows are added by mask
  // class · W + the lane that the row does not train; the spare lane if there is no such lane, and
  // for mixed rows
  const u16* cell;
  // Mixed rows: their positions, and the lanes that they do not train | class << 16. If all rows
  // are added by mask: the lanes that they train | class << 16.
  u32 n_mixed;
  const u32 *mixed, *info;
  const double *weight, *product;
  const u8* times;  // [row][kLanes] or null

  // live: the lanes that need statistics
  static CountedRows of(Worker& w, const Bundle& bundle, const LargeRows& rows, int W, u32 live) {
    const Problem& p = w.run.p;
    const u32 n = rows.n, width = static_cast<u32>(W), spare = width - 1;
    const auto row = [&](u32 i) { return rows.row(i); };
    const auto class_of = [&](u32 i) { return rows.class_of(p, i); };
    CountedRows s{n,
                  true,
                  nullptr,
                  n,
                  nullptr,
                  nullptr,
                  w.gathered(p.weight, n, row),
                  w.gathered(rows.products, n, row),
                  times_of_lanes(w, n, row)};
    if (!p.multiplicity && static_cast<u32>(p.n_classes) * width <= 1 << 16 &&
        !off(Acceleration::fold_rows)) {
      u16* cell = w.scratch.take<u16>(n);
      u32* mixed = w.scratch.take<u32>(n);
      u32* info = w.scratch.take<u32>(n);
      const auto count = [&](u32 begin, u32 end) {
        u32 found = 0;
        for (u32 i = begin; i < end; i++) {
          const u32 out = live & ~rows.mask(i);
          found += (out & (out - 1)) != 0;
        }
        return found;
      };
      s.n_mixed = w.pack_rows(n, count, [&](u32 begin, u32 end, u32 at) {
        u32 next = at;
        for (u32 i = begin; i < end; i++) {
          const u32 out = live & ~rows.mask(i), cls = class_of(i);
          const bool is_mixed = (out & (out - 1)) != 0;
          const u32 lane = out && !is_mixed ? static_cast<u32>(__builtin_ctz(out)) : spare;
          cell[i] = static_cast<u16>(cls * width + lane);
          if (!is_mixed) continue;
          mixed[next] = i;
          info[next++] = out | cls << 16;
        }
        return next - at;
      });
      s.masked = s.n_mixed > n / 2;
      s.cell = cell;
      s.mixed = mixed;
      s.info = info;
    }
    if (s.masked) {
      s.n_mixed = n;
      u32* info = w.scratch.take<u32>(n);
      w.share_rows(n, [&](u32 begin, u32 end) {
        for (u32 i = begin; i < end; i++) info[i] = (rows.mask(i) & live) | class_of(i) << 16;
      });
      s.info = info;
    }
    w.level(bundle.depth).fold_rows += n - s.n_mixed;
    return s;
  }
  // Some rows, added by mask. row(i), mask(i): the row of the table, and the lanes.
  template <class Row, class Mask>
  static CountedRows some(Worker& w, u32 n, const double* products, const Row& row,
                          const Mask& mask) {
    const Problem& p = w.run.p;
    u32* info = w.scratch.take<u32>(n);
    for (u32 i = 0; i < n; i++)
      info[i] = mask(i) | (p.n_classes ? static_cast<u32>(p.classes[row(i)]) << 16 : 0);
    const double *weight = w.gathered(p.weight, n, row), *product = w.gathered(products, n, row);
    return {n, true, nullptr, n, nullptr, info, weight, product, times_of_lanes(w, n, row)};
  }
  // Calls add.operator()<sign>(row, info) for the rows from `begin` to `end` that are added by mask
  // (1), or that are gone or that fold cells counted for too many lanes (-1). next: of the first of
  // the last.
  template <bool kGone, class Add>
  CC_INLINE void each_mixed(u32 begin, u32 end, u32& next, Add add) const {
    if constexpr (kGone)
      for (u32 i = begin; i < end; i++) add.template operator()<-1>(i, info[i]);
    else if (masked)
      for (u32 i = begin; i < end; i++) add.template operator()<1>(i, info[i]);
    else
      for (; next < n_mixed && mixed[next] < end; next++)
        add.template operator()<-1>(mixed[next], info[next]);
  }
};

// Turns fold cells into lanes: a task trains on everything but the cell of its own fold.
template <class T, int W> CC_INLINE void subtract_folds(Vec<T, W>& v) {
  if constexpr (W > 1) v = sum_of_lanes<T, W>(v) - v;
}

// The codes of rows of the table: its own, or the ranks of a nominal column with too many
// categories for a byte.
template <class T> struct CodesOfTable {
  const T* codes;
  const u32* rows;
  CC_INLINE u32 operator[](u32 i) const { return codes[rows[i]]; }
};

// Adds rows to the cells of a single task. Every other row is counted apart, because neighbouring
// rows often have the same cell if it has few values, and would wait for each other.
template <class Cell> void count_rows(Arena& arena, u32 n, u32 n_cells, u32* counts, Cell cell) {
  const auto mark = arena.mark();
  u32* others = arena.take<u32>(n_cells);
  std::fill_n(others, n_cells, 0u);
  u32 i = 0;
  for (; i + 1 < n; i += 2) {
    counts[cell(i)]++;
    others[cell(i + 1)]++;
  }
  if (i < n) counts[cell(i)]++;
  for (u32 c = 0; c < n_cells; c++) counts[c] += others[c];
  arena.release(mark);
}

// counts[bin · C + class]: number of rows in each lane
template <int W, bool kGone, class Codes>
void fill_counts(Arena& arena, const CountedRows& s, Codes codes, u32 C, u32 bins,
                 Vec<u32, W>* counts) {
  const u32 n_cells = bins * C;
  for (u32 i = 0; i < n_cells && !kGone; i++) counts[i] = Vec<u32, W>{};
  if constexpr (kGone) {
    for (u32 i = 0; i < s.n; i++)
      counts[codes[i] * C + (s.info[i] >> 16)] -= ones<u32, W>(s.info[i] & 0xffff);
  } else if constexpr (W == 1) {
    if (s.masked)
      count_rows(arena, s.n, n_cells, counts,
                 [codes, C, info = s.info](u32 i) { return codes[i] * C + (info[i] >> 16); });
    else
      count_rows(arena, s.n, n_cells, counts,
                 [codes, C, cell = s.cell](u32 i) { return codes[i] * C + cell[i]; });
  } else {
    // Counts of 16 bits need half of the cache.
    const auto mark = arena.mark();
    using V = Vec<u16, W>;
    V* small = arena.take<V>(n_cells);
    u16* h = reinterpret_cast<u16*>(small);
    const u32 step = C * W;
    u32 next = 0;
    for (u32 begin = 0, end; begin < s.n; begin = end) {
      end = s.n - begin < 0xffff ? s.n : begin + 0xffff;
      for (u32 i = 0; i < n_cells; i++) small[i] = V{};
      if (!s.masked) {
        for (u32 i = begin; i < end; i++) h[codes[i] * step + s.cell[i]]++;
        for (u32 i = 0; i < n_cells; i++) subtract_folds<u16, W>(small[i]);
      }
      s.each_mixed<false>(begin, end, next, [&]<int kSign>(u32 i, u32 x) {
        V& cell = small[codes[i] * C + (x >> 16)];
        if constexpr (kSign > 0) cell += ones<u16, W>(x & 0xffff);
        else cell -= ones<u16, W>(x & 0xffff);
      });
      for (u32 i = 0; i < n_cells; i++) counts[i] += __builtin_convertvector(small[i], Vec<u32, W>);
    }
    arena.release(mark);
  }
}

// Fills the values of weighted classes: a weight per class, and the number of rows.
template <int W, bool kGone, class Codes>
void fill_weights(const Run& run, const CountedRows& s, Codes codes, u32 bins,
                  Vec<double, W>* values) {
  using V = Vec<double, W>;
  const u32 parts = static_cast<u32>(run.bin_parts()), step = parts * W;
  for (u32 i = 0; i < bins * parts && !kGone; i++) values[i] = V{};
  const auto weight = [&](u32 i) { return s.weight ? s.weight[i] : 1; };
  if (!kGone && !s.masked) {
    double* h = reinterpret_cast<double*>(values);
    for (u32 i = 0; i < s.n; i++) {
      double* bin = h + codes[i] * step;
      bin[s.cell[i]] += weight(i);
      bin[(parts - 1) * W + s.cell[i] % W] += 1;
    }
    for (u32 i = 0; i < bins * parts; i++) subtract_folds<double, W>(values[i]);
  }
  u32 next = 0;
  s.each_mixed<kGone>(0, s.n, next, [&]<int kSign>(u32 i, u32 x) {
    const u32 mask = x & 0xffff;
    V* bin = values + codes[i] * parts;
    const V one = ones<double, W>(mask) * static_cast<double>(kSign);
    V m = one;
    if (s.times) m = times_of_row<double, W>(s.times, i, mask) * static_cast<double>(kSign);
    bin[x >> 16] += m * weight(i);
    bin[parts - 1] += one;
  });
}

// Fills the values of moments (Moments::rows_at, squares_at) and bounds the errors of the sums of
// squares, one for all lanes of a bin.
//
// Proof of the bound, with ε = 2^-53, n rows, S the sum of the squares in the cells of a bin, and
// W ≤ 16 lanes. A cell adds at most n squares, each with at most 3 roundings: its error is at most
// (n + 3)ε of it. A lane is S less a cell (W additions), less at most n squares of mixed rows: its
// error is at most (3n + 50)ε·S. If all rows are added by mask, S is the sum of the lanes.
// A lane that is derived, S(child) = S(parent) − S(sibling), has the errors of both and a rounding
// of at most ε·S', where S' belongs to the ancestor that was counted. So has a lane from which a
// row is subtracted; the squares of all such rows have errors of at most 3ε·S' together. There are
// at most n' such subtractions in a row from the n' rows of the ancestor, because each takes rows
// of the lane away. So errors of 8(n + 16)ε·S per counted bundle, which add up, bound the error of
// the lane. The rest covers the roundings in Moments::alive.
template <int W, bool kGone, bool kWeighted, bool kSquares, class Codes>
void fill_moments(const CountedRows& s, Codes codes, u32 bins, Vec<double, W>* values,
                  double* errors) {
  using V = Vec<double, W>;
  constexpr u32 rows_at = kWeighted ? 2 : 1, squares_at = rows_at + 1;
  constexpr u32 parts = rows_at + 1 + kSquares, step = parts * W;
  const double slack = 0x1p-50 * (static_cast<double>(s.n) + 16);
  for (u32 i = 0; i < bins * parts && !kGone; i++) values[i] = V{};
  double* h = reinterpret_cast<double*>(values);
  const auto square = [](double p, double w) {
    if constexpr (kWeighted) return w > 0 ? p * p / w : 0;
    else return p * p;
  };
  const auto weight = [&](u32 i) { return s.weight ? s.weight[i] : 1; };
  const auto bound_errors = [&] {
    for (u32 b = 0; b < bins && kSquares; b++) {
      double sum = 0;
      for (u32 k = 0; k < W; k++) sum += h[b * step + squares_at * W + k];
      errors[b] = slack * sum;
    }
  };
  if (!kGone && !s.masked) {
    for (u32 i = 0; i < s.n; i++) {
      double* bin = h + codes[i] * step + s.cell[i];
      const double p = s.product[i];
      bin[0] += p;
      bin[rows_at * W] += 1;
      if constexpr (kWeighted) bin[W] += weight(i);
      if constexpr (kSquares) bin[squares_at * W] += square(p, kWeighted ? weight(i) : 1);
    }
    bound_errors();
    for (u32 i = 0; i < bins * parts; i++) subtract_folds<double, W>(values[i]);
  }
  u32 next = 0;
  s.each_mixed<kGone>(0, s.n, next, [&]<int kSign>(u32 i, u32 x) {
    V* bin = values + codes[i] * parts;
    const double p = s.product[i];
    const V one = ones<double, W>(x & 0xffff) * static_cast<double>(kSign);
    V m = one;
    if constexpr (kWeighted) {
      if (s.times) m = times_of_row<double, W>(s.times, i, x & 0xffff) * static_cast<double>(kSign);
      bin[1] += m * weight(i);
    }
    bin[0] += m * p;
    bin[rows_at] += one;
    if constexpr (kSquares) bin[squares_at] += m * square(p, kWeighted ? weight(i) : 1);
  });
  if (!kGone && s.masked) bound_errors();
}

// errors: of the squares of each bin; null for classes
template <int W, bool kGone, class Codes>
void fill_values(const Run& run, const CountedRows& s, Codes codes, u32 bins,
                 Vec<double, W>* values, double* errors) {
  if (run.p.n_classes) return fill_weights<W, kGone>(run, s, codes, bins, values);
  const auto fill = [&]<bool kWeighted, bool kSquares>() {
    fill_moments<W, kGone, kWeighted, kSquares>(s, codes, bins, values, errors);
  };
  if (run.has_squares() && run.weighted) fill.template operator()<true, true>();
  else if (run.has_squares()) fill.template operator()<false, true>();
  else if (run.weighted) fill.template operator()<true, false>();
  else fill.template operator()<false, false>();
}

// Fills the statistics of a column, whose memory is given, or subtracts rows that are gone.
template <int W, bool kGone, class Codes>
void fill_column(Worker& w, const CountedRows& s, Codes codes, u32 bins, Vec<u32, W>* counts,
                 Vec<double, W>* values, double* errors) {
  if (w.run.counted)
    return fill_counts<W, kGone>(w.scratch, s, codes, static_cast<u32>(w.run.K()), bins, counts);
  fill_values<W, kGone>(w.run, s, codes, bins, values, errors);
}

}  // namespace crosscut::CROSSCUT_LEVEL

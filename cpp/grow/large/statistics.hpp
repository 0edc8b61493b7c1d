// Statistics of a large bundle per coarse interval (or category) and lane.
// A fold row trains every task but one. It adds one number to the cell of that task; then S(T_i) =
// S(D) − S(D_i) (the paper, 2.2.2) gives all lanes at once. Other rows add to the lanes of their
// mask. The subtraction gains about 5% on large tables.
#pragma once
#include "codes.hpp"
#include "grow/criteria/running_statistics.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The rows of a bundle, divided into fold rows and mixed (other) rows once for all columns.
struct SortedRows {
  u32 n_fold, n_mixed;
  const u32 *fold, *mixed;  // row numbers in the bundle's codes
  // fold rows: class · W + the lane that they do not train (the spare lane if there is none)
  const u32* cell;
  const u32* mixed_info;  // mixed rows: mask | class << 16
  const double *fold_w, *fold_p, *mixed_w, *mixed_p;
  const u8* times;  // mixed rows: [row][kLanes] or null

  // live: the lanes that need statistics
  static SortedRows of(Worker& w, const Bundle& bundle, const LargeRows& rows, int W, u32 live) {
    const Problem& p = w.run.p;
    SortedRows s{};
    u32* fold = w.scratch.take<u32>(rows.n);
    u32* cell = w.scratch.take<u32>(rows.n);
    u32* mixed = w.scratch.take<u32>(rows.n);
    u32* info = w.scratch.take<u32>(rows.n);
    const u32 spare = static_cast<u32>(W - 1);
    const auto is_fold_row = [&](u32 out) {
      return (out & (out - 1)) == 0 && !p.multiplicity && !off(Acceleration::fold_rows);
    };
    const auto count = [&](u32 begin, u32 end) {
      u32 n = 0;
      for (u32 i = begin; i < end; i++) n += is_fold_row(live & ~u32{rows.masks[i]});
      return n;
    };
    s.n_fold = w.pack_rows(rows.n, count, [&](u32 begin, u32 end, u32 at) {
      u32 next_fold = at, next_mixed = begin - at;
      for (u32 i = begin; i < end; i++) {
        const u32 id = rows.ids[i];
        const u32 m = rows.masks[i];
        const u32 out = live & ~m;
        const u32 cls = p.n_classes ? static_cast<u32>(p.classes[rows.codes->row(id)]) : 0;
        if (is_fold_row(out)) {
          fold[next_fold] = id;
          cell[next_fold++] =
              cls * static_cast<u32>(W) + (out ? static_cast<u32>(__builtin_ctz(out)) : spare);
        } else {
          mixed[next_mixed] = id;
          info[next_mixed++] = (m & live) | cls << 16;
        }
      }
      return next_fold - at;
    });
    s.n_mixed = rows.n - s.n_fold;
    w.level(bundle.depth).fold_rows += s.n_fold;
    s.fold = fold;
    s.cell = cell;
    s.mixed = mixed;
    s.mixed_info = info;
    const auto copy = [&](const double* from, const u32* ids, u32 n) {
      return w.gathered(from, n, [&](u32 i) { return rows.codes->row(ids[i]); });
    };
    s.fold_w = copy(p.weight, fold, s.n_fold);
    s.mixed_w = copy(p.weight, mixed, s.n_mixed);
    s.fold_p = copy(p.product, fold, s.n_fold);
    s.mixed_p = copy(p.product, mixed, s.n_mixed);
    s.times = times_of_lanes(w, s.n_mixed, [&](u32 i) { return rows.codes->row(mixed[i]); });
    return s;
  }
};

// Turns fold cells into lanes: a task trains on everything but the cell of its own fold.
template <class T, int W> CC_INLINE void subtract_folds(Vec<T, W>& v) {
  if constexpr (W > 1) {
    T sum = 0;
    for (int k = 0; k < W; k++) sum += v[k];
    v = all<T, W>(sum) - v;
  }
}

// Codes of a nominal column with too many categories for a byte.
struct WideCodes {
  const u32* ranks;
  const Codes* codes;
  CC_INLINE u32 operator[](u32 id) const { return ranks[codes->row(id)]; }
};

// counts[bin · C + class]: number of rows in each lane
template <int W, class Codes>
void fill_counts(const SortedRows& s, Codes codes, int C, u32 bins, Vec<u32, W>* counts) {
  using V = Vec<u32, W>;
  const u32 step = static_cast<u32>(C) * W;
  for (u32 i = 0; i < bins * static_cast<u32>(C); i++) counts[i] = V{};
  u32* h = reinterpret_cast<u32*>(counts);
  for (u32 i = 0; i < s.n_fold; i++) h[codes[s.fold[i]] * step + s.cell[i]]++;
  if (s.n_fold)
    for (u32 i = 0; i < bins * static_cast<u32>(C); i++) subtract_folds<u32, W>(counts[i]);
  for (u32 i = 0; i < s.n_mixed; i++) {
    const u32 x = s.mixed_info[i];
    counts[codes[s.mixed[i]] * static_cast<u32>(C) + (x >> 16)] += ones<u32, W>(x & 0xffff);
  }
}

// Fills the values of weighted classes (C weights and a row count per bin) or moments (P, W, row
// count). For moments, `squares` gets the sum of squared deviations of all rows of a bin.
template <int W, class Codes>
void fill_values(const Run& run, const SortedRows& s, Codes codes, u32 bins, Vec<double, W>* values,
                 double* squares, double* sums) {
  using V = Vec<double, W>;
  const u32 parts = run.p.n_classes ? static_cast<u32>(run.p.n_classes) + 1 : 3;
  const u32 step = parts * W;
  for (u32 i = 0; i < bins * parts; i++) values[i] = V{};
  double* h = reinterpret_cast<double*>(values);
  if (run.p.n_classes) {
    const u32 rows_at = (parts - 1) * W;
    for (u32 i = 0; i < s.n_fold; i++) {
      double* bin = h + codes[s.fold[i]] * step;
      bin[s.cell[i]] += s.fold_w ? s.fold_w[i] : 1;
      bin[rows_at + s.cell[i] % W] += 1;
    }
  } else {
    for (u32 b = 0; b < bins; b++) squares[b] = sums[2 * b] = sums[2 * b + 1] = 0;
    for (u32 i = 0; i < s.n_fold; i++) {
      const u32 b = codes[s.fold[i]];
      double* bin = h + b * step + s.cell[i];
      const double p = s.fold_p[i], w = s.fold_w ? s.fold_w[i] : 1;
      bin[0] += p;
      bin[W] += w;
      if (s.fold_w) bin[2 * W] += 1;
      squares[b] += s.fold_w ? (w > 0 ? p * p / w : 0) : p * p;
    }
    for (u32 b = 0; b < bins; b++)
      for (u32 k = 0; k < W; k++) {
        sums[2 * b] += h[b * step + k];
        sums[2 * b + 1] += h[b * step + W + k];
      }
  }
  if (s.n_fold)
    for (u32 i = 0; i < bins * parts; i++) subtract_folds<double, W>(values[i]);
  if (s.n_fold && !run.p.n_classes && !s.fold_w)
    for (u32 b = 0; b < bins; b++) values[b * 3 + 2] = values[b * 3 + 1];
  const bool plain = !run.p.n_classes && !run.weighted;  // P and W only
  if (plain && s.n_mixed) {
    for (u32 i = 0; i < s.n_mixed; i++) {
      const u32 b = codes[s.mixed[i]];
      const double p = s.mixed_p[i];
      const V one = ones<double, W>(s.mixed_info[i] & 0xffff);
      values[b * 3] += one * p;
      values[b * 3 + 1] += one;
      squares[b] += p * p;
      sums[2 * b] += p;
      sums[2 * b + 1] += 1;
    }
    for (u32 b = 0; b < bins; b++) values[b * 3 + 2] = values[b * 3 + 1];
  }
  for (u32 i = 0; i < s.n_mixed && !plain; i++) {
    const u32 b = codes[s.mixed[i]];
    const u32 x = s.mixed_info[i];
    const u32 mask = x & 0xffff;
    V* bin = values + b * parts;
    const V one = ones<double, W>(mask), m = times_of_row<double, W>(s.times, i, mask);
    const double w = s.mixed_w ? s.mixed_w[i] : 1;
    if (run.p.n_classes) {
      bin[x >> 16] += m * w;
      bin[parts - 1] += one;
    } else {
      double heavy = 1;  // the largest multiplicity bounds the squares of all tasks
      for (int k = 0; k < W && s.times; k++)
        heavy = lane<double, W>(m, k) > heavy ? lane<double, W>(m, k) : heavy;
      const double p = s.mixed_p[i];
      bin[0] += m * p;
      bin[1] += m * w;
      bin[2] += one;
      squares[b] += w > 0 ? heavy * p * p / w : 0;
      if (!s.times) {
        sums[2 * b] += p;
        sums[2 * b + 1] += w;
      }
    }
  }
  // SSD = Σp²/w − (Σp)²/Σw. With multiplicities the mean is left out, which only loosens the bound.
  if (!run.p.n_classes && !s.times)
    for (u32 b = 0; b < bins; b++)
      if (sums[2 * b + 1] > 0) {
        const double mean_part = sums[2 * b] * sums[2 * b] / sums[2 * b + 1];
        squares[b] = squares[b] * (1 + 1e-12) - mean_part * (1 - 1e-12);
        if (squares[b] < 0) squares[b] = 0;
      }
}

}  // namespace crosscut::CROSSCUT_LEVEL

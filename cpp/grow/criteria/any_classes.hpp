// Running statistics for the class criteria without faster ones (entropy, gain ratio). With
// x(v) = v · log2(v), the criterion compares a cut with the best test by the sums
//   parts = Σ x(l_c) + x(r_c) and sides = x(l) + x(r).
// It decides, lane by lane, whether a cut may beat the best test (surplus) and whether an interval
// may hold such a cut (may_beat_inside). Both may err only towards true. Without may_beat_inside
// every interval is opened. Single tasks evaluate up to 64 cuts at once.
#pragma once
#include "grow/simd/log2.hpp"
#include "weighted_classes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// One lane's sums at a cut and, for may_beat_inside, of the interval that follows it.
template <int W> struct LaneCut {
  using V = Vec<double, W>;
  const Run& run;
  const V *node_sums, *left_sums, *cell;
  int lane_number, n_classes;
  double n, l, r, node_quality;

  double left(int c) const { return lane<double, W>(left_sums[c], lane_number); }
  double node(int c) const { return lane<double, W>(node_sums[c], lane_number); }
  double moved(int c) const { return lane<double, W>(cell[c], lane_number); }
  double size() const {
    double sum = 0;
    for (int c = 0; c < n_classes; c++) sum += moved(c);
    return sum;
  }
  double x(double v) const { return run.quality.x(v); }
  double parts() const {
    double sum = 0;
    for (int c = 0; c < n_classes; c++) sum += x(left(c)) + x(node(c) - left(c));
    return sum;
  }
  double sides() const { return x(l) + x(r); }
  double rounding() const { return 1e-11 * (x(n) + n); }  // of both
};

template <class Criterion, int W> struct AnyClassesOf : WeightedClasses<W> {
  using Base = WeightedClasses<W>;
  using Base::Base, Base::C, Base::l_c, Base::n_c, Base::limit, Base::n, Base::node_q, Base::lanes,
      Base::run;
  using typename Base::T, typename Base::V;

  LaneCut<W> cut_of(int k, const V* cell) const {
    double l = 0;
    for (int c = 0; c < C; c++) l += lane<T, W>(l_c[c], k);
    const double all_rows = lane<T, W>(n, k);
    return {run, n_c, l_c, cell, k, C, all_rows, l, all_rows - l, lane<T, W>(node_q, k)};
  }
  u32 promising() const {
    u32 bits = 0;
    each_bit(lanes, [&](int k) {
      const LaneCut<W> cut = cut_of(k, nullptr);
      const double best = lane<T, W>(limit, k);
      const bool may_win =
          cut.l > 0 && cut.r > 0 &&
          (best == kNever || Criterion::surplus(cut, cut.parts(), cut.sides(), best) >
                                 -Criterion::slack(cut.rounding(), best));
      bits |= static_cast<u32>(may_win) << k;
    });
    return bits;
  }
  u32 alive(const V* cell, double) const {
    const u32 inside = greater<T, W>(cell[C], all<T, W>(1));
    if constexpr (requires(LaneCut<W> cut) { Criterion::may_beat_inside(cut, 0.0); }) {
      u32 bits = 0;
      each_bit(inside & lanes, [&](int k) {
        const double best = lane<T, W>(limit, k);
        bits |=
            static_cast<u32>(best == kNever || Criterion::may_beat_inside(cut_of(k, cell), best))
            << k;
      });
      return bits;
    }
    return inside;
  }

  // A single task: up to kMost consecutive cuts at once. Each row changes the sums of its class
  // only, so a cut takes the same time for any number of classes. Weights have no table of x(v) and
  // use xlog_about(). Because its errors cancel between rows of a class, `parts` is wrong by at
  // most 2 · kLogError · n and `sides` by half of that.
  struct Cuts {
    static constexpr u32 kMost = 64;
    static constexpr bool kAnyRows = true;  // weighted rows and any number of classes, too
    using D = Vec<double, kDoubles>;
    static constexpr u32 kVectors = kMost / kDoubles;
    const ScanRows* rows = nullptr;
    const u32* list = nullptr;  // the entries of the current cuts
    u32 n = 0, at = 0;          // their number; the sums of the statistics contain the first `at`
    const LaneCut<1> node;      // at the start of the scan
    const double* const table;  // of x(v) of counts
    double end;                 // weight left of them
    D before;                   // parts before the current cuts
    D parts[kVectors], sides[kVectors], weight[kVectors];

    explicit Cuts(const AnyClassesOf& p)
      requires(W == 1)
        : node(p.cut_of(0, nullptr)),
          table(node.n < kXlogs ? p.run.quality.xlogs : nullptr),
          end(node.l),
          before(D{} + node.parts()) {}

    // Returns the promising cuts, as bits, among the cuts after the next m entries.
    u64 next(AnyClassesOf& p, const ScanRows& of, const u32* entries, u32 m) {
      go_to(p, n);
      rows = &of;
      list = entries;
      n = m;
      alignas(64) double l[kMost], r[kMost], new_l[kMost], new_r[kMost], w[kMost];
      for (u32 i = 0; i < m; i++) {
        const u32 row = list[i] & kRowMask, c = of.info[row] >> 16;
        const double v = p.weights_of(of, row, 1);
        l[i] = p.l_c[c];
        new_l[i] = p.l_c[c] += v;
        r[i] = p.n_c[c] - l[i];
        new_r[i] = p.n_c[c] - new_l[i];
        w[i] = end += v;
      }
      for (u32 i = m; i % kDoubles; i++) l[i] = new_l[i] = r[i] = new_r[i] = w[i] = 0;
      p.rows_l += m;
      at = m;
      const auto load = [](const double* from) {
        D v;
        __builtin_memcpy(&v, from, sizeof v);
        return v;
      };
      for (u32 i = 0; i < m; i += kDoubles) {
        const D changes = x(load(new_l + i)) + x(load(new_r + i)) - x(load(l + i)) - x(load(r + i));
        const D sums = running_sum(changes) + before;
        before = last_of(sums);
        parts[i / kDoubles] = sums;
        weight[i / kDoubles] = load(w + i);
        sides[i / kDoubles] = x(load(w + i)) + x(node.n - load(w + i));
      }
      return still_promising(p, m < kMost ? (u64{1} << m) - 1 : ~u64{0});
    }
    u64 still_promising(const AnyClassesOf& p, u64 cuts) const {
      u64 promising = 0;
      const double error = node.rounding() + (table ? 0 : 3 * kLogError * node.n);
      const D least = D{} - Criterion::slack(error, p.limit);
      for (u32 i = 0; i < n; i += kDoubles) {
        const D& left = weight[i / kDoubles];
        u32 good =
            greater<double, kDoubles>(left, D{}) & greater<double, kDoubles>(D{} + node.n, left);
        if (p.limit != kNever)
          good &= greater<double, kDoubles>(
              Criterion::surplus(node, parts[i / kDoubles], sides[i / kDoubles], p.limit), least);
        promising |= static_cast<u64>(good) << i;
      }
      return promising & cuts;
    }
    // The cut with the largest surplus. After it is evaluated, most others are below the new limit.
    u32 best(const AnyClassesOf& p, u64 cuts) const {
      u32 found = static_cast<u32>(__builtin_ctzll(cuts));
      double most = kNever;
      for (u64 rest = cuts & (cuts - 1) ? cuts : 0; rest; rest &= rest - 1) {
        const u32 k = static_cast<u32>(__builtin_ctzll(rest));
        const double surplus =
            Criterion::surplus(node, parts[k / kDoubles][k % kDoubles],
                               sides[k / kDoubles][k % kDoubles], p.limit == kNever ? 0 : p.limit);
        if (surplus > most) {
          most = surplus;
          found = k;
        }
      }
      return found;
    }
    void put(AnyClassesOf& p, u32 k) { go_to(p, k + 1); }

   private:
    D x(D v) const {
      if (!table) return xlog_about<kDoubles>(v);
      D values;
      for (int k = 0; k < kDoubles; k++) values[k] = table[static_cast<u32>(v[k])];
      return values;
    }
    // Moves the sums of the statistics to the cut after the first k entries.
    void go_to(AnyClassesOf& p, u32 k) {
      const auto move = [&](u32 entry, double sign) {
        const u32 row = entry & kRowMask;
        p.l_c[rows->info[row] >> 16] += sign * p.weights_of(*rows, row, 1);
        p.rows_l += sign;
      };
      while (at < k) move(list[at++], 1);
      while (at > k) move(list[--at], -1);
    }
  };
};

template <class Criterion> struct AnyClasses {
  template <int W> using Of = AnyClassesOf<Criterion, W>;
};

}  // namespace crosscut::CROSSCUT_LEVEL

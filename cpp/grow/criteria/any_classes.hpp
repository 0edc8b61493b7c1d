// Running statistics for the class criteria without faster ones (entropy, gain ratio). The
// criterion itself decides, lane by lane, whether a cut may beat the best test (may_beat) and
// whether an interval may hold such a cut (may_beat_inside). Both may err only towards true.
// Without may_beat_inside every interval is opened.
#pragma once
#include "weighted_classes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// One lane's sums at a cut and, for may_beat_inside, of the interval that follows it.
template <int W> struct LaneCut {
  using V = Vec<double, W>;
  const Run& run;
  const V *node_sums, *left_sums, *cell;
  int lane_number, n_classes;
  double n, l, r, node_quality;
  bool running;
  double parts;  // if running: the sum over the classes of x(left) + x(right)

  double left(int c) const { return lane<double, W>(left_sums[c], lane_number); }
  double node(int c) const { return lane<double, W>(node_sums[c], lane_number); }
  double moved(int c) const { return lane<double, W>(cell[c], lane_number); }
  double size() const {
    double sum = 0;
    for (int c = 0; c < n_classes; c++) sum += moved(c);
    return sum;
  }
  double x(double v) const { return run.quality.x(v); }
};

template <class Criterion, int W> struct AnyClassesOf : WeightedClasses<W> {
  using Base = WeightedClasses<W>;
  using Base::Base, Base::C, Base::l_c, Base::n_c, Base::limit, Base::n, Base::node_q, Base::lanes,
      Base::run;
  using typename Base::T, typename Base::V;

  // A scan of a single task updates the sums of LaneCut row by row, so that a cut takes the same
  // time for any number of classes.
  bool running = false;
  double class_parts, left_weight;

  void clear() {
    Base::clear();
    running = W == 1;
    class_parts = left_weight = 0;
    for (int c = 0; c < C && running; c++) class_parts += run.quality.x(lane<T, W>(n_c[c], 0));
  }
  CC_INLINE void add(const ScanRows& rows, u32 row) {
    if (running) {
      const u32 c = rows.info[row] >> 16;
      const double v = lane<T, W>(Base::weights_of(rows, row, 1), 0);
      const double l = lane<T, W>(l_c[c], 0);
      const double r = lane<T, W>(n_c[c], 0) - l;
      const Terms& terms = run.quality;
      class_parts += terms.x(l + v) - terms.x(l) + terms.x(r - v) - terms.x(r);
      left_weight += v;
    }
    Base::add(rows, row);
  }
  void add_cell(const V* cell) {
    running = false;
    Base::add_cell(cell);
  }
  void copy(const AnyClassesOf& o) {
    running = false;
    Base::copy(o);
  }
  void put_left(const double* s, i64 rows)
    requires(W == 1)
  {
    running = false;
    Base::put_left(s, rows);
  }

  LaneCut<W> cut_of(int k, const V* cell) const {
    double l = running ? left_weight : 0;
    for (int c = 0; c < C && !running; c++) l += lane<T, W>(l_c[c], k);
    const double all_rows = lane<T, W>(n, k);
    return {run,     n_c,        l_c, cell, k, C, all_rows, l, all_rows - l, lane<T, W>(node_q, k),
            running, class_parts};
  }
  u32 promising() const {
    u32 bits = 0;
    each_bit(lanes, [&](int k) {
      const LaneCut<W> cut = cut_of(k, nullptr);
      const double best = lane<T, W>(limit, k);
      const bool may_win =
          cut.l > 0 && cut.r > 0 && (best == kNever || Criterion::may_beat(cut, best));
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
};

template <class Criterion> struct AnyClasses {
  template <int W> using Of = AnyClassesOf<Criterion, W>;
};

}  // namespace crosscut::CROSSCUT_LEVEL

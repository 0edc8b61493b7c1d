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

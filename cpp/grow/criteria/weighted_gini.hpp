// Running statistics for Gini with weighted rows. The quality of a cut is a / l + b / r, where l
// and r are the weights of the sides, and a and b the sums of their squared class weights.
// Comparing a * r + b * l with limit * l * r needs no division. The sums are doubles, so a cut is
// rejected only if it is worse by more than their rounding (1e-11); survivors are evaluated
// exactly.
#pragma once
#include "weighted_classes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <int W> struct WeightedGini : WeightedClasses<W> {
  using Base = WeightedClasses<W>;
  using Base::Base, Base::C, Base::l_c, Base::limit, Base::n;
  using typename Base::T, typename Base::V;

  u32 promising() const {
    V l = V{};
    for (int c = 0; c < C; c++) l += l_c[c];
    const V r = n - l;
    V a, b;
    this->sum_squares(a, b);
    return greater<T, W>(a * r + b * l, limit * (T(1) - 1e-11) * (l * r));
  }
  // Bound of an interval. Gini is convex in the left sums, so its maximum over the box of an
  // interval is at a corner, where each class has moved completely or not at all. Up to four
  // classes all corners are evaluated; with more, every interval is opened.
  u32 alive(const V* cell, double) {
    const u32 inside = greater<T, W>(cell[C], all<T, W>(1));
    if (!inside || C > 4) return inside;
    V before[4];
    for (int c = 0; c < C; c++) before[c] = l_c[c];
    u32 bits = 0;
    for (u32 corner = 0; corner < 1u << C; corner++) {
      for (int c = 0; c < C; c++) l_c[c] = corner >> c & 1 ? before[c] + cell[c] : before[c];
      bits |= promising();
    }
    for (int c = 0; c < C; c++) l_c[c] = before[c];
    return inside & bits;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

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
  using Base::Base, Base::C, Base::l_c, Base::n_c, Base::limit, Base::n;
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
  // interval is at a corner, where each class has moved completely or not at all. Up to three
  // classes all corners are evaluated.
  u32 alive(const V* cell, double) {
    const u32 inside = greater<T, W>(cell[C], all<T, W>(1));
    if (!inside) return 0;
    if (C > 3) return inside & alive_of_many(cell);
    V before[3];
    for (int c = 0; c < C; c++) before[c] = l_c[c];
    u32 bits = 0;
    for (u32 corner = 0; corner < 1u << C; corner++) {
      for (int c = 0; c < C; c++) l_c[c] = corner >> c & 1 ? before[c] + cell[c] : before[c];
      bits |= promising();
    }
    for (int c = 0; c < C; c++) l_c[c] = before[c];
    return inside & bits;
  }

 private:
  // The bound of many_gini.hpp, in weights: if any weight moves, it is at least that of one row. If
  // all of it moves, rows of weight 0 stay.
  u32 alive_of_many(const V* cell) const {
    V h = V{}, l = V{}, a, b;
    for (int c = 0; c < C; c++) {
      h += cell[c];
      l += l_c[c];
    }
    this->sum_squares(a, b);
    const V r = n - l, one = all<T, W>(1), least = all<T, W>(Base::run.p.least_weight);
    const V il = one / (l > T(0) ? l : least), ir = one / (r > T(0) ? r : least);
    const V uu = a * il * il, vv = b * ir * ir;
    V slope = V{}, bend_l = V{}, bend_r = V{};
    for (int c = 0; c < C; c++) {
      const V u = l_c[c] * il, v = (n_c[c] - l_c[c]) * ir;
      const V start = l > T(0) ? u + u - uu : one;
      const V g = start - v - v + vv;
      slope += cell[c] * (g > T(0) ? g : V{});
      const V hu = h * u, hv = h * v;
      const V bu = cell[c] > hu ? cell[c] : hu, bv = cell[c] > hv ? cell[c] : hv;
      bend_l += bu * bu;
      bend_r += bv * bv;
    }
    bend_l = l > T(0) ? bend_l / (l + least) : V{};
    const V bound = a * il + b * ir + slope + bend_l + bend_r / (r - h > T(0) ? r - h : least);
    return greater<T, W>(bound, limit * (T(1) - 1e-9));
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

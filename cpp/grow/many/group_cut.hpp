// A cut of a group's node, and whether it can be the best of some member.
//
// Gini and variance both measure the squared distances of rows from the mean of their branch (for
// Gini a row is the unit vector of its class). Let a cut have branches s with weights W_s and means
// μ_s, and let L be its sum of squared distances. Removing the rows H lowers L by
//   D = Σ_H w·|y − μ_s|² + Σ_s h_s²/(W_s − h_s)·|ȳ_s − μ_s|²,
// where h_s is the weight and ȳ_s the mean of the removed rows of s. By Cauchy–Schwarz
//   E ≤ D ≤ r·E, with E = Σ_H w·|y − μ_s|² and r = max W_s/(W_s − h_s).
// With μ the mean of the node and δ the larger distance of a branch mean from it,
//   A − 2δB ≤ E ≤ A + 2δB + hδ², where A = Σ_H w·|y − μ|² and B = Σ_H w·|y − μ|.
// So a cut that is worse than another cut (`base`, E') on all rows is also worse without the rows H
// if it is worse by more than r·E − E'. Without knowing on which side the rows are, that is at most
// (r − 1)A + 2rδB + r·h·δ² + (A − E'), where A − E' ≤ 2δ'B. δ² is gain·max W/(W·min W).
// The base must be a test of every member, so it leaves enough rows on both sides whatever is held
// out. GroupCuts (cuts.hpp) finds the cuts that are possible for some member, PossibleCuts those of
// a member.
#pragma once
#include <algorithm>

#include "group.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A, B and the weight h of the held-out rows of a member, A − E' or a bound of it, and the number
// of rows.
struct Removed {
  double a = 0, b = 0, weight = 0, excess = 0;
  u32 rows = 0;
  void raise(const Removed& o) {
    a = std::max(a, o.a);
    b = std::max(b, o.b);
    weight = std::max(weight, o.weight);
    excess = std::max(excess, o.excess);
    rows = std::max(rows, o.rows);
  }
};

struct GroupCut {
  int f;
  u32 place;                 // rows with a value at or below the cut
  u64 key;                   // numeric_key; the cut is a rank of the table
  double q, small;           // quality; weight of the smaller branch
  double gap, ratio, delta;  // by how much the base is better; r, δ
  u32 n_left, n_missing;
  bool separable;      // by the gap rule; also without some of the rows
  const double* left;  // [K] statistics of the first branch
  double both[2];      // these if K is 2

  // By how much the cut may be worse than the base.
  double allowed(const Removed& h) const {
    return (ratio - 1) * h.a + ratio * delta * (2 * h.b + h.weight * delta) + h.excess;
  }
  bool may_win(const Removed& h) const { return gap <= allowed(h); }
};

}  // namespace crosscut::CROSSCUT_LEVEL

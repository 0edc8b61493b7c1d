// A cut of a group's node, and whether it can be the best of some member.
//
// The quality of a cut is a constant less the loss of the rows in their branches: the squared
// distance of a row from the mean of its branch (squares_bound.hpp), or the bits of its class
// (entropy_bound.hpp). Both are convex, so removing the rows H from a cut lowers its loss by D >=
// E, where E is the loss of the rows H in the branches with all rows. Each criterion has a bound D
// <= M that holds wherever the rows H are. A cut that is worse than another cut (`base`, E') on all
// rows is therefore also worse without the rows H if it is worse by more than
//   D − D' <= (M − A) + (A − E'),
// where A is the loss of the rows H in the node as a whole.
// The base must be a test of every member, so it leaves enough rows on both sides whatever is held
// out. GroupCuts (cuts.hpp) finds the cuts that are possible for some member, PossibleCuts those of
// a member.
#pragma once
#include <algorithm>

#include "group.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Bound> struct GroupCut {
  int f;
  u32 place;        // rows with a value at or below the cut
  u64 key;          // numeric_key; the cut is a rank of the table
  double q, small;  // quality; weight of the smaller branch
  double gap;       // by how much the base is better
  u32 n_left, n_missing;
  bool separable;           // by the gap rule; also without some of the rows
  typename Bound::Cut cut;  // what the bound needs to know
  const double* left;       // [K] statistics of the first branch
  double both[2];           // these if K is 2

  bool may_win(const typename Bound::Removed& h) const { return gap <= Bound::allowed(cut, h); }
};

// Rank of missing values; no row has it if the column has none.
inline u32 missing_rank(const Column& column) {
  return column.has_missing ? column.n_values : ~u32{0};
}

}  // namespace crosscut::CROSSCUT_LEVEL

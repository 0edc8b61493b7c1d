// The cuts that may be the best of each member, from those that may be the best of some member
// (cuts.hpp). Members with similar held-out rows share a selection. For each member, the bound of
// the criterion (squares_bound.hpp, entropy_bound.hpp) gives upper bounds of the qualities of all
// selected cuts from their statistics with all rows.
#pragma once
#include "cuts.hpp"
#include "selected_cuts.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Bound> class PossibleCuts {
  using Cut = GroupCut<Bound>;
  using Removed = typename Bound::Removed;

  const Problem& p;
  const Group& group;
  const std::vector<Cut>& cuts;
  const Cut* base;
  const typename Bound::Losses losses;  // in the branches of the base
  typename Bound::Estimates estimates;

 public:
  SelectedCuts<Bound> selected;  // of a run of members
  double* bound;                 // [selected.n] of their qualities for a member

  PossibleCuts(Worker& w, const Group& g, const Bound& b, const GroupCuts<Bound>& all)
      : p(w.run.p),
        group(g),
        cuts(all.cuts),
        base(all.base_cut()),
        losses(w, b, base ? base->left : nullptr),
        estimates(w, b, cuts.size()),
        selected(w, cuts.size()),
        bound(w.scratch.take<double>(cuts.size())) {}

  // Sets A − E' of a member.
  void compare_with_base(const Member& member, Removed& held_out) const {
    double e = 0;
    for (u32 i = 0; i < member.n_out && base; i++) {
      const u32 row = member.out[i];
      const Column& column = p.columns[base->f];
      const bool is_left = goes_left(column.rank(row), base->key, missing_rank(column));
      e += weight_of(p, row) * losses(row, is_left);
    }
    held_out.excess = base ? held_out.a - e * (1 - 1e-9) : 0;
  }
  // Selects the cuts that are possible for some of the members first to last. Returns the end of
  // the members that they are prepared for.
  const u32* select(const Removed& most, const u32* first, const u32* last) {
    selected.clear();
    for (const Cut& cut : cuts)
      if (cut.may_win(most)) selected.add(cut);
    return estimates.prepare(selected, group.members, first, last);
  }
  // Bounds the qualities of the selected cuts for a member.
  void find_bounds(const Member& member) { estimates.find(selected, member, bound); }
};

}  // namespace crosscut::CROSSCUT_LEVEL

// Cuts of a group's node that are possible for some of several members, in columns: the cuts of a
// column are sorted, so a held-out row is in the first branch of all of them from one place on.
#pragma once
#include <vector>

#include "group_cut.hpp"
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Bound> class SelectedCuts {
  struct Segment {  // cuts of one column and phase
    int f;
    u64 phase;
    u32 begin, end;
  };
  const Problem& p;
  std::vector<Segment> segments;
  u32* ranks;

 public:
  std::size_t n = 0;
  const GroupCut<Bound>** selected;  // [n]

  SelectedCuts(Worker& w, std::size_t most)
      : p(w.run.p),
        ranks(w.scratch.take<u32>(most)),
        selected(w.scratch.take<const GroupCut<Bound>*>(most)) {}

  void clear() {
    n = 0;
    segments.clear();
  }
  void add(const GroupCut<Bound>& cut) {
    const u32 j = static_cast<u32>(n);
    const u64 phase = phase_of(cut.key);
    if (segments.empty() || segments.back().f != cut.f || segments.back().phase != phase)
      segments.push_back({cut.f, phase, j, j});
    segments.back().end = j + 1;
    ranks[j] = cut_of(cut.key);
    selected[n++] = &cut;
  }
  // Calls use(begin, first_left, end) for the cuts of each column; from first_left on they have the
  // row in their first branch.
  template <class Use> CC_INLINE void each_column(u32 row, const Use& use) const {
    for (const Segment& s : segments) {
      const u32 rank = p.columns[s.f].rank(row);
      u32 first_left = s.begin;
      if (rank == missing_rank(p.columns[s.f]))
        first_left = s.phase == kMissingLeft ? s.begin : s.end;
      else if (s.phase != kPresence)
        first_left =
            static_cast<u32>(std::lower_bound(ranks + s.begin, ranks + s.end, rank) - ranks);
      use(s.begin, first_left, s.end);
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

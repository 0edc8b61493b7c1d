// Of two children with the same tasks, one is counted and the other derived (held_statistics.hpp).
#pragma once
#include <vector>

#include "child_bundles.hpp"
#include "waiting_bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// A child whose tasks all go on in a second child, too, waits until that one is counted. Of two
// with the same tasks, the larger one waits. `statistics` are the parent's. is_large(child): is the
// child refined as a large bundle?
template <class Large>
void join_siblings(Run& run, const Bundle& parent, const ChildBundles& children,
                   std::vector<WaitingBundle::Pointer>& next, HeldStatistics& statistics,
                   const Large& is_large) {
  const int W = lanes_width(run, parent), F = run.p.n_features;
  std::size_t cells = 0;
  for (int f = 0; f < F; f++) cells += n_cells(run, f);
  const auto large = [&](std::size_t c) { return next[c] && is_large(*next[c]); };
  for (std::size_t b = 0; b < next.size(); b++)
    for (std::size_t a = 0; a < next.size() && large(b); a++) {
      const u32 lanes = children.bundle[b].lanes, of_sibling = children.bundle[a].lanes;
      if (a == b || lanes & ~of_sibling || !large(a) ||
          (lanes == of_sibling && next[a]->n_rows > next[b]->n_rows))
        continue;
      // ~0: all lanes keep their places
      const bool tied = run.p.multiplicity, all = lanes == (1u << parent.n) - 1;
      const u32 keep = tied || all ? ~u32{0} : lanes;
      const u32 shared = tied || lanes == of_sibling ? ~u32{0} : pack_bits(lanes, of_sibling);
      const std::size_t rows = std::size_t{next[b]->n_rows} * static_cast<std::size_t>(F);
      if ((keep & shared) != ~u32{0} && rows < cells) continue;
      if (keep == ~u32{0} && lanes == parent.lanes) {
        next[b]->statistics = std::move(statistics);
      } else {
        const int to = lanes_width(run, *next[b]);
        next[b]->statistics = hold_statistics(run, to);
        if (!next[b]->statistics) continue;
        const char* from = statistics.get();
        char* at = next[b]->statistics.get();
        for (int f = 0; f < F; f++) {
          pack_column<false>(run, f, from, W, keep, at, to);
          from += statistics_bytes(run, f, W);
          at += statistics_bytes(run, f, to);
        }
      }
      next[b]->shared = shared;
      next[b]->sibling = std::move(next[a]->sibling);
      next[a]->sibling = std::move(next[b]);
      if (!statistics) return;
    }
}

}  // namespace crosscut::CROSSCUT_LEVEL

// Children whose statistics are derived from their parent's (held_statistics.hpp): by those of a
// sibling that is counted anyway, or by the few rows that the parent has and the child has not.
#pragma once
#include <vector>

#include "child_bundles.hpp"
#include "waiting_bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Subtracting a row from all lanes takes as long as counting this many rows. Most of those add to
// one cell only, and classes to a cell of 16 bits.
inline u32 rows_per_gone(const Run& run, u32 lanes) {
  if (!(lanes & (lanes - 1))) return run.counted ? 4 : 2;
  return run.counted ? 12 : 8;
}

// The rows of a parent that lanes of a child bundle have lost, or null if counting the child's rows
// takes less time. The lanes that a row loses are those that it would have in a child with the
// other branches of the same tests.
inline WaitingBundle::Pointer find_gone(Worker& w, const Bundle& parent, const LargeRows& rows,
                                        const ChildBundles& children, const ChildBundle& child,
                                        const WaitingBundle& as_bundle) {
  const u32 most = child.n / rows_per_gone(w.run, child.lanes);
  i64 least = 0;  // as many rows are gone from some lane
  int to = 0;
  each_bit(child.lanes, [&](int k) {
    const Node& node = *as_bundle.node[w.run.p.multiplicity ? k : to++];
    least = std::max(least, parent.node[k]->n_rows - node.n_rows);
  });
  if (least > most) return nullptr;
  const auto mark = w.scratch.mark();
  ChildBundle others{};
  others.lanes = child.lanes;
  others.left = child.right;
  others.right = child.left;
  ChildBundles gone{&others, 1, children.left};
  count_binary(w, rows, gone);
  WaitingBundle::Pointer out;
  if (others.n <= most) {
    out = WaitingBundle::make(w.run, as_bundle, as_bundle.codes, others.n);
    others.rows = out->rows;
    others.masks = out->masks;
    route_binary(w, rows, gone);
  }
  w.scratch.release(mark);
  return out;
}

// A child whose tasks all go on in a second child, too, waits until that one is counted. Of two
// with the same tasks, the larger one waits. If there is no such child, and only few rows of its
// tasks are not in the child, these are kept with it. `statistics` are the parent's.
// is_large(child): is the child refined as a large bundle?
template <class Large>
void join_siblings(Worker& w, const Bundle& parent, const LargeRows& rows,
                   const ChildBundles& children, std::vector<WaitingBundle::Pointer>& next,
                   HeldStatistics& statistics, const Large& is_large) {
  Run& run = w.run;
  const int W = lanes_width(run, parent), F = run.p.n_features;
  std::size_t cells = 0;
  for (int f = 0; f < F; f++) cells += n_cells(run, f);
  const auto large = [&](std::size_t c) { return next[c] && is_large(*next[c]); };
  // Gives child b its lanes of the statistics. shared: see WaitingBundle
  const auto give = [&](std::size_t b, u32 shared) {
    const u32 lanes = children.bundle[b].lanes;
    const bool all = run.p.multiplicity || lanes == (1u << parent.n) - 1;
    const u32 keep = all ? ~u32{0} : lanes;  // ~0: all lanes keep their places
    const std::size_t n = std::size_t{next[b]->n_rows} * static_cast<std::size_t>(F);
    if ((keep & shared) != ~u32{0} && n < cells) return false;
    if (keep == ~u32{0} && lanes == parent.lanes) {
      next[b]->statistics = std::move(statistics);
      return true;
    }
    const int to = lanes_width(run, *next[b]);
    next[b]->statistics = hold_statistics(run, to);
    if (!next[b]->statistics) return false;
    const char* from = statistics.get();
    char* at = next[b]->statistics.get();
    for (int f = 0; f < F; f++) {
      pack_column<false>(run, f, from, W, keep, at, to);
      from += statistics_bytes(run, f, W);
      at += statistics_bytes(run, f, to);
    }
    return true;
  };
  const auto join = [&](std::size_t b) {
    const u32 lanes = children.bundle[b].lanes;
    for (std::size_t a = 0; a < next.size(); a++) {
      const u32 of_sibling = children.bundle[a].lanes;
      if (a == b || lanes & ~of_sibling || !large(a) ||
          (lanes == of_sibling && next[a]->n_rows > next[b]->n_rows))
        continue;
      const u32 shared =
          run.p.multiplicity || lanes == of_sibling ? ~u32{0} : pack_bits(lanes, of_sibling);
      if (!give(b, shared)) continue;
      next[b]->shared = shared;
      next[b]->sibling = std::move(next[a]->sibling);
      next[a]->sibling = std::move(next[b]);
      return;
    }
    WaitingBundle::Pointer gone =
        find_gone(w, parent, rows, children, children.bundle[b], *next[b]);
    if (gone && give(b, ~u32{0})) next[b]->gone = std::move(gone);
  };
  for (std::size_t b = 0; b < next.size() && statistics; b++)
    if (large(b)) join(b);
}

}  // namespace crosscut::CROSSCUT_LEVEL

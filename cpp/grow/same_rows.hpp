// Tasks of a bundle that have the very same rows there: one of them is grown for all (memo.hpp).
#pragma once
#include "bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The lanes of a new bundle that hold all its rows, so that one subtree serves them all.
struct SameRows {
  u32 lanes = 0, drop = 0;  // drop: lanes that need not be grown
  Node* node[kLanes];
  RowSet set;
  bool grown = false;  // the subtree is remembered from before

  // absent: lanes that lack some row. row(i) names the rows in the table.
  template <class RowOf>
  static SameRows of(Worker& w, const Bundle& bundle, u32 absent, u32 n, RowOf row) {
    SameRows out;
    const u32 complete = bundle.lanes & ~absent;
    if (!w.run.shares || !complete || (!w.run.remembers && !(complete & (complete - 1)))) return out;
    const TaskLimits& wanted = limits_of(w, bundle, __builtin_ctz(complete));
    each_bit(complete, [&](int k) {
      const TaskLimits& own = limits_of(w, bundle, k);
      if (own.max_depth != wanted.max_depth || own.min_split != wanted.min_split || own.min_leaf != wanted.min_leaf) return;
      out.lanes |= 1u << k, out.node[k] = bundle.node[k];
    });
    out.drop = out.lanes & (out.lanes - 1);
    if (!w.run.remembers) return out;
    for (u32 i = 0; i < n; i++) out.set.add(row(i));
    u64 place = static_cast<u64>(bundle.depth);
    for (const i64 limit : {wanted.max_depth, wanted.min_split, wanted.min_leaf}) place = scrambled(place) + static_cast<u64>(limit);
    out.set.a += scrambled(place);
    if (const Node* known = w.memo.find(out.set)) {
      each_bit(out.lanes, [&](int k) { *out.node[k] = *known; });
      out.drop = out.lanes, out.grown = true;
    }
    return out;
  }
  // The first lane's subtree is grown: give it to the others.
  void spread(Worker& w) const {
    if (!lanes || grown) return;
    const Node* first = node[__builtin_ctz(lanes)];
    each_bit(lanes & (lanes - 1), [&](int k) { *node[k] = *first; });
    if (w.run.remembers) w.memo.remember(set, first);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

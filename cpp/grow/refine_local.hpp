// Small bundles: copied into a local table and refined there to the end, the whole subtree.
#pragma once
#include "child_bundles.hpp"
#include "fork.hpp"
#include "local_search.hpp"
#include "same_rows.hpp"

namespace crosscut::CROSSCUT_LEVEL {

inline void refine_local(Worker& w, const LocalTable& table, LocalBundle& bundle);

// A child with its rows, which are named in `info`; which columns go on is found when the lists are filled.
inline LocalBundle local_child(Worker& w, const LocalTable& table, const LocalBundle& parent, const ChildBundle& child, const Bundle& lanes, u32* info) {
  LocalBundle next{lanes, child.n, w.scratch.take<u16>(child.n + 1), info,
                   w.scratch.take<u32*>(static_cast<std::size_t>(w.run.p.n_features)), w.scratch.take<int>(static_cast<std::size_t>(parent.n_features)), 0};
  for (u32 i = 0; i < child.n; i++) {
    const u16 row = parent.rows[child.at[i]];
    next.rows[i] = row, info[row] = w.run.describe(child.masks[i], table.cls(row));
  }
  return next;
}

inline void keep_column(LocalBundle& next, int f, u32* list) {
  if (list) {
    next.lists[f] = list;
    if (list[0] >> 16 == list[next.n_rows - 1] >> 16) return;  // constant from here on
  }
  next.features[next.n_features++] = f;
}

// Tasks that hold all rows of a child bundle have the same subtree: at most one of them stays in it (same_rows.hpp).
inline SameRows leave_same(Worker& w, const LocalTable& table, LocalBundle& next, u8* side = nullptr) {
  u32 absent = 0;
  for (u32 i = 0; i < next.n_rows; i++) absent |= ~next.info[next.rows[i]];
  const SameRows same = SameRows::of(w, next, absent, next.n_rows, [&](u32 i) { return table.ids[next.rows[i]]; });
  if (!same.drop) return same;
  const u32 keep = next.lanes & ~same.drop;
  u32 n = 0;
  for (u32 i = 0; i < next.n_rows; i++) {
    const u32 row = next.rows[i], m = pack_bits(next.info[row] & 0xffff, keep);
    next.info[row] = w.run.describe(m, table.cls(row));
    if (side && !m) side[row] = 2;
    next.rows[n] = static_cast<u16>(row), n += m != 0;
  }
  next.n_rows = n;
  static_cast<Bundle&>(next) = next.packed(keep);
  return same;
}

inline void refine_child(Worker& w, const LocalTable& table, const LocalBundle& bundle, const ChildBundle& child, const Bundle& lanes) {
  const auto mark = w.scratch.mark();
  u32* info = w.scratch.take<u32>(table.n);
  for (u32 i = 0; i < bundle.n_rows; i++) info[bundle.rows[i]] = 0;
  LocalBundle next = local_child(w, table, bundle, child, lanes, info);
  const SameRows same = leave_same(w, table, next);
  for (int j = 0; next.n_rows && j < bundle.n_features; j++) {
    const int f = bundle.features[j];
    u32* to = nullptr;
    if (table.columns[f].mode == Mode::list) {
      to = w.scratch.take<u32>(next.n_rows + kListRoom);
      keep_entries(bundle.lists[f], bundle.n_rows, info, to);
    }
    keep_column(next, f, to);
  }
  if (next.n_rows) refine_local(w, table, next);
  same.spread(w);
  w.scratch.release(mark);
}

// Two child bundles without a common row: one pass over each list serves both.
inline void refine_both(Worker& w, const LocalTable& table, const LocalBundle& bundle, const ChildBundle* children, const Bundle* lanes) {
  const auto mark = w.scratch.mark();
  u32* info = w.scratch.take<u32>(table.n);
  u8* side = w.scratch.take<u8>(table.n);  // 0, 1, or 2: the row is in neither
  for (u32 i = 0; i < bundle.n_rows; i++) side[bundle.rows[i]] = 2;
  LocalBundle next[2];
  SameRows same[2];
  for (u32 c = 0; c < 2; c++) {
    next[c] = local_child(w, table, bundle, children[c], lanes[c], info);
    for (u32 i = 0; i < next[c].n_rows; i++) side[next[c].rows[i]] = static_cast<u8>(c);
    same[c] = leave_same(w, table, next[c], side);
  }
  for (int j = 0; j < bundle.n_features; j++) {
    const int f = bundle.features[j];
    u32 *left = nullptr, *right = nullptr;
    if (table.columns[f].mode == Mode::list) {
      const u32* from = bundle.lists[f];
      left = w.scratch.take<u32>(next[0].n_rows + kListRoom), right = w.scratch.take<u32>(next[1].n_rows + kListRoom);
      for (u32 i = 0, l = 0, r = 0; i < bundle.n_rows; i++) {
        const u32 e = from[i], s = side[e & 0xffff];
        left[l] = e, right[r] = e;
        l += s == 0, r += s == 1;
      }
    }
    if (next[0].n_rows) keep_column(next[0], f, left);
    if (next[1].n_rows) keep_column(next[1], f, right);
  }
  for (u32 c = 0; c < 2; c++) {
    if (next[c].n_rows) refine_local(w, table, next[c]);
    same[c].spread(w);
  }
  w.scratch.release(mark);
}

// A child bundle that is nested too deeply: its rows are kept, to become a local table of their own later.
inline void defer_child(Worker& w, const LocalTable& table, const LocalBundle& bundle, const ChildBundle& child, const Bundle& lanes) {
  if (!child.n) return;
  WaitingBundle& later = WaitingBundle::add(w.held, lanes, child.n, w.deferred);
  for (u32 i = 0; i < child.n; i++) later.ids[i] = table.ids[bundle.rows[child.at[i]]], later.masks[i] = child.masks[i];
}

inline void refine_children(Worker& w, const LocalTable& table, const LocalBundle& bundle, const Fork& fork, const ChildBundles& children) {
  Bundle* lanes = w.scratch.take<Bundle>(static_cast<std::size_t>(children.n) + 1);
  for (int c = 0; c < children.n; c++) lanes[c] = bundle_of(w, bundle, fork, children.bundle[c]);
  if (w.nesting >= kNesting) {
    for (int c = 0; c < children.n; c++) defer_child(w, table, bundle, children.bundle[c], lanes[c]);
    return;
  }
  w.nesting++;
  if (fork.n_tests == 1 && children.n == 2) refine_both(w, table, bundle, children.bundle, lanes);
  else for (int c = 0; c < children.n; c++) refine_child(w, table, bundle, children.bundle[c], lanes[c]);
  w.nesting--;
}

inline void refine_local(Worker& w, const LocalTable& table, LocalBundle& bundle) {
  const bool timed = bundle.n_rows >= 256;  // below that the clock costs too much; their time counts with the bundle above
  const double started = timed ? seconds_now() : 0;
  const auto mark = w.scratch.mark();
  LevelCounts& level = w.level(bundle.depth);
  level.bundles++, level.rows += bundle.n_rows;
  const LocalRows rows(table, bundle);
  close_pure_lanes(w, bundle, rows);
  if (bundle.lanes) {
    Best best = search_local(w, table, bundle);
    const Fork forked = fork(w, bundle, rows, best);
    if (timed) level.seconds += seconds_now() - started;
    refine_children(w, table, bundle, forked, child_bundles(w, rows, forked));
  }
  w.scratch.release(mark);
}

// A bundle of the table becomes a local table and is refined to the end.
inline void refine_as_local(Worker& w, const Bundle& bundle, u32 n, const u32* ids, const u16* masks) {
  const auto mark = w.scratch.mark();
  LocalBundle local;
  const LocalTable table = make_local_table(w, bundle, n, ids, masks, local);
  refine_local(w, table, local);
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL

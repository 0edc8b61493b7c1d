// Small bundles: copied into a local block and finished there, the whole subtree.
#pragma once
#include "alike.hpp"
#include "cluster.hpp"
#include "local_search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

void grow_twig(Worker& w, const Local& local, Twig& twig);

// Room for a child's rows and lists; which columns go on is found when the lists are filled.
inline Twig new_child(Worker& w, const Twig& twig, const Team& team, u16* rows, u32* info) {
  Twig next;
  next.team = team, next.rows = rows, next.info = info, next.n = 0, next.n_features = 0;
  next.features = w.scratch.take<int>(static_cast<std::size_t>(twig.n_features));
  next.lists = w.scratch.take<u32*>(static_cast<std::size_t>(w.run.p.n_features));
  return next;
}

inline void keep_column(Twig& next, int f, u32* list) {
  if (list) {
    next.lists[f] = list;
    if (list[0] >> 16 == list[next.n - 1] >> 16) return;  // constant from here on
  }
  next.features[next.n_features++] = f;
}

// Tasks that hold all rows of a child bundle have the same subtree: at most one of them stays in it (alike.hpp).
inline Alike leave_alike(Worker& w, const Local& local, Twig& next, u8* side = nullptr) {
  u32 absent = 0;
  for (u32 i = 0; i < next.n; i++) absent |= ~next.info[next.rows[i]];
  const Alike alike = Alike::of(w, next.team, absent, next.n, [&](u32 i) { return local.ids[next.rows[i]]; });
  if (!alike.drop) return alike;
  const u32 keep = next.team.lanes & ~alike.drop;
  u32 n = 0;
  for (u32 i = 0; i < next.n; i++) {
    const u32 row = next.rows[i], m = pack_bits(next.info[row] & 0xffff, keep);
    next.info[row] = w.run.describe(m, local.cls(row));
    if (side && !m) side[row] = 2;
    next.rows[n] = static_cast<u16>(row), n += m != 0;
  }
  next.n = n;
  keep_lanes(next.team, keep);
  return alike;
}

inline void grow_child(Worker& w, const Local& local, const Twig& twig, const Child& child, const Team& team) {
  const auto mark = w.scratch.mark();
  u32* info = w.scratch.take<u32>(local.n);
  for (u32 i = 0; i < twig.n; i++) info[twig.rows[i]] = 0;
  u16* kept = w.scratch.take<u16>(child.n + 1);
  for (u32 i = 0; i < child.n; i++) {
    const u16 row = twig.rows[child.at[i]];
    kept[i] = row, info[row] = w.run.describe(child.lanes[i], local.cls(row));
  }
  Twig next = new_child(w, twig, team, kept, info);
  next.n = child.n;
  const Alike alike = leave_alike(w, local, next);
  for (int j = 0; next.n && j < twig.n_features; j++) {
    const int f = twig.features[j];
    u32* to = nullptr;
    if (local.columns[f].mode == Mode::list) {
      to = w.scratch.take<u32>(next.n + kListRoom);
      keep_entries(twig.lists[f], twig.n, info, to);
    }
    keep_column(next, f, to);
  }
  if (next.n) grow_twig(w, local, next);
  alike.spread(w);
  w.scratch.release(mark);
}

// Two child bundles without a common row: one pass over each list serves both.
inline void grow_both(Worker& w, const Local& local, const Twig& twig, const Child* children, const Team* teams) {
  const auto mark = w.scratch.mark();
  u32* info = w.scratch.take<u32>(local.n);
  u8* side = w.scratch.take<u8>(local.n);  // 0, 1, or 2: the row is in neither
  for (u32 i = 0; i < twig.n; i++) side[twig.rows[i]] = 2;
  Twig next[2];
  Alike alike[2];
  for (u32 c = 0; c < 2; c++) {
    u16* kept = w.scratch.take<u16>(children[c].n + 1);
    for (u32 i = 0; i < children[c].n; i++) {
      const u16 row = twig.rows[children[c].at[i]];
      kept[i] = row, info[row] = w.run.describe(children[c].lanes[i], local.cls(row)), side[row] = static_cast<u8>(c);
    }
    next[c] = new_child(w, twig, teams[c], kept, info);
    next[c].n = children[c].n;
    alike[c] = leave_alike(w, local, next[c], side);
  }
  for (int j = 0; j < twig.n_features; j++) {
    const int f = twig.features[j];
    u32 *left = nullptr, *right = nullptr;
    if (local.columns[f].mode == Mode::list) {
      const u32* from = twig.lists[f];
      left = w.scratch.take<u32>(next[0].n + kListRoom), right = w.scratch.take<u32>(next[1].n + kListRoom);
      for (u32 i = 0, l = 0, r = 0; i < twig.n; i++) {
        const u32 e = from[i], s = side[e & 0xffff];
        left[l] = e, right[r] = e;
        l += s == 0, r += s == 1;
      }
    }
    if (next[0].n) keep_column(next[0], f, left);
    if (next[1].n) keep_column(next[1], f, right);
  }
  for (u32 c = 0; c < 2; c++) {
    if (next[c].n) grow_twig(w, local, next[c]);
    alike[c].spread(w);
  }
  w.scratch.release(mark);
}

// A child bundle that is nested too deeply: its rows are kept, to be grown as a block of their own later.
inline void defer_child(Worker& w, const Local& local, const Twig& twig, const Child& child, const Team& team) {
  if (!child.n) return;
  Pending* later = new_pending(w.held, team, child.n);
  for (u32 i = 0; i < child.n; i++) later->ids[i] = local.ids[twig.rows[child.at[i]]], later->masks[i] = child.lanes[i];
  later->next = w.deferred, w.deferred = later;
}

inline void grow_children(Worker& w, const Local& local, const Twig& twig, const TwigRows& rows, const Settler<TwigRows>& settler) {
  const u16* left = lanes_left(w, rows, settler.tests, settler.n_tests);
  Cluster* clusters;
  const int n = make_clusters(w, rows, settler.tests, settler.n_tests, left, clusters);
  const Child* children = route(w, rows, settler.tests, settler.n_tests, left, clusters, n);
  Team* teams = w.scratch.take<Team>(static_cast<std::size_t>(n) + 1);
  for (int c = 0; c < n; c++) teams[c] = child_team(w, twig.team, settler.tests, clusters[c]);
  if (w.nesting >= kNesting) {
    for (int c = 0; c < n; c++) defer_child(w, local, twig, children[c], teams[c]);
    return;
  }
  w.nesting++;
  if (settler.n_tests == 1 && n == 2) grow_both(w, local, twig, children, teams);
  else for (int c = 0; c < n; c++) grow_child(w, local, twig, children[c], teams[c]);
  w.nesting--;
}

inline void grow_twig(Worker& w, const Local& local, Twig& twig) {
  const bool timed = twig.n >= 256;  // below that the clock costs too much; their time counts with the bundle above
  const double started = timed ? seconds_now() : 0;
  const auto mark = w.scratch.mark();
  LevelCounts& level = w.levels[twig.team.depth < kLevels ? twig.team.depth : kLevels - 1];
  level.bundles++, level.rows += twig.n;
  const TwigRows rows{twig.n, twig.rows, twig.info, local, twig.lists};
  if (!w.run.p.n_classes) {
    const u32 pure = pure_lanes(w, twig.team, rows);
    close_lanes(w, twig.team, rows, pure);
    twig.team.lanes &= ~pure;
  }
  if (twig.team.lanes) {
    Best best;
    best.start(w.run.K(), w.scratch.take<double>(static_cast<std::size_t>(kLanes * w.run.K())));
    search_twig(w, local, twig, best);
    Settler<TwigRows> settler(w, twig.team, rows, best);
    settler.take_tests();
    settler.open_children();
    level.tests += static_cast<u64>(settler.n_tests), level.nodes++;
    if (timed) level.seconds += seconds_now() - started;
    grow_children(w, local, twig, rows, settler);
  }
  w.scratch.release(mark);
}

// A bundle of the table becomes a local block and is grown to the end.
inline void grow_local(Worker& w, const Team& team, u32 n, const u32* ids, const u16* masks) {
  const auto mark = w.scratch.mark();
  const Problem& p = w.run.p;
  Local local{};
  local.n = n, local.ids = ids;
  local.columns = w.scratch.take<LocalColumn>(static_cast<std::size_t>(p.n_features));
  Twig twig;
  twig.team = team, twig.n = n;
  twig.rows = w.scratch.take<u16>(n), twig.info = w.scratch.take<u32>(n);
  twig.lists = w.scratch.take<u32*>(static_cast<std::size_t>(p.n_features));
  twig.features = w.scratch.take<int>(static_cast<std::size_t>(p.n_features)), twig.n_features = 0;
  if (p.n_classes > 256) {
    u16* c = w.scratch.take<u16>(n);
    for (u32 i = 0; i < n; i++) c[i] = static_cast<u16>(p.classes[ids[i]]);
    local.cls16 = c;
  } else if (p.n_classes) {
    u8* c = w.scratch.take<u8>(n);
    for (u32 i = 0; i < n; i++) c[i] = static_cast<u8>(p.classes[ids[i]]);
    local.cls8 = c;
  }
  const auto row = [ids](u32 i) { return ids[i]; };
  local.weight = gathered(w.scratch, p.weight, n, row), local.product = gathered(w.scratch, p.product, n, row);
  if (p.multiplicity) {
    u8* m = w.scratch.take<u8>(static_cast<std::size_t>(n) * kLanes);
    for (u32 i = 0; i < n; i++)
      for (u32 k = 0; k < kLanes; k++) {
        const std::size_t task = static_cast<std::size_t>(w.block * kBlockTasks) + k;
        m[i * kLanes + k] = k < kBlockTasks && task < static_cast<std::size_t>(p.n_tasks) ? p.multiplicity[task * p.n_rows + ids[i]] : 0;
      }
    local.multiplicity = m;
  }
  for (u32 i = 0; i < n; i++) twig.rows[i] = static_cast<u16>(i), twig.info[i] = w.run.describe(masks[i], local.cls(i));
  copy_columns(w, local, twig);
  grow_twig(w, local, twig);
  w.scratch.release(mark);
}

}  // namespace crosscut::CROSSCUT_LEVEL

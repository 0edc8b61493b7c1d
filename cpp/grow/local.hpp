// Small bundles: the rows are copied into one contiguous block, every column is sorted once, and the whole subtree is finished
// there by filtering the sorted lists. Columns with few values are counted into value × lane cells instead.
#pragma once
#include "alike.hpp"
#include "cluster.hpp"
#include "lane_statistics.hpp"
#include "sorting.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kListRoom = 16;  // entries a scan may read behind the end of a list (they are never used)

enum class Mode : u8 { constant, list, cells, nominal };

struct LocalColumn {
  Mode mode;
  u16* rank;          // [n] local dense rank
  u32* global;        // [n_ranks] the table's rank of a local rank
  u32 n_ranks;        // distinct values, missing among them
  u32 missing_rank;   // local rank of missing, ~0 if none
  bool any_close;     // some neighbouring values are too close to part
};

struct Local {
  u32 n;
  const u32* ids;
  LocalColumn* columns;
  const u8* cls8;        // classes of the rows, if there are at most 256...
  const u16* cls16;      // ...or more
  const double *weight, *product, *target;
  const u8* multiplicity;
  u32 cls(u32 row) const { return cls8 ? cls8[row] : cls16 ? cls16[row] : 0; }
};

struct Twig {  // one bundle inside a local block
  Team team;
  u32 n;
  u16* rows;      // local rows, ascending
  u32* info;      // [local.n] by local row
  u32** lists;    // per column: rank << 16 | row, sorted (list mode)
  int* features;  // columns that are not constant here
  int n_features;
};

struct TwigRows {
  u32 n;
  const u16* rows;
  const u32* info;
  const Local& local;
  u32* const* lists;
  // The column's rows in order, if they are kept so (null otherwise).
  const u32* sorted(int f) const { return local.columns[f].mode == Mode::list ? lists[f] : nullptr; }
  u32 mask_of(u32 entry) const { return info[entry & 0xffff] & 0xffff; }
  CC_INLINE u32 mask(u32 i) const { return info[rows[i]] & 0xffff; }
  CC_INLINE u32 rank(int f, u32 i) const { return local.columns[f].rank[rows[i]]; }
  CC_INLINE std::size_t row(u32 i) const { return local.ids[rows[i]]; }
  u32 value_rank(int f, u32 r) const { return local.columns[f].global[r]; }
  u32 missing_rank(int f) const { return local.columns[f].missing_rank; }
  u32 n_ranks(int f) const { return local.columns[f].n_ranks; }
};

// Copies column f of the block: local ranks, and the sorted list where one is kept.
template <int kRowBits, class Key>
void copy_column(Worker& w, Local& local, int f, u32** lists, u32 low, u32 high, Key* a, Key* b) {
  const Column& column = w.run.p.columns[f];
  LocalColumn& out = local.columns[f];
  const u32 n = local.n;
  using Word = decltype(a->v);
  for (u32 i = 0; i < n; i++) a[i].v = static_cast<Word>(column.ranks[local.ids[i]] - low) << kRowBits | i;
  a = sort_keys<kRowBits>(a, b, n, high - low);
  constexpr Word row_mask = (Word{1} << kRowBits) - 1;
  out.rank = w.scratch.take<u16>(n), out.global = w.scratch.take<u32>(n);
  u32* list = w.scratch.take<u32>(n + kListRoom);
  u32 ranks = 0;
  Word last = a[0].v >> kRowBits;
  out.global[0] = static_cast<u32>(last) + low;
  for (u32 i = 0; i < n; i++) {
    const Word r = a[i].v >> kRowBits;
    ranks += r != last, last = r;
    const u32 row = static_cast<u32>(a[i].v & row_mask);
    out.global[ranks] = static_cast<u32>(r) + low;
    out.rank[row] = static_cast<u16>(ranks);
    list[i] = ranks << 16 | row;
  }
  out.n_ranks = ranks + 1;
  if (column.has_missing && out.global[ranks] == column.n_values && !column.nominal) out.missing_rank = ranks;
  if (column.close && !column.edges && !column.nominal)
    for (u32 v = 0; v + 1 < out.n_ranks && v + 1 != out.missing_rank; v++)
      out.any_close |= !apart(column.values[out.global[v]], column.values[out.global[v + 1]]);
  out.mode = column.nominal ? Mode::nominal : out.n_ranks * 6 <= n || out.n_ranks <= 3 ? Mode::cells : Mode::list;
  lists[f] = out.mode == Mode::list ? list : nullptr;
}

inline void copy_columns(Worker& w, Local& local, Twig& twig) {
  const u32 n = local.n;
  SortKey *a = w.scratch.take<SortKey>(n), *b = w.scratch.take<SortKey>(n);
  for (int f = 0; f < w.run.p.n_features; f++) {
    const u32* ranks = w.run.p.columns[f].ranks;
    u32 low = ~u32{0}, high = 0;
    for (u32 i = 0; i < n; i++) {
      const u32 r = ranks[local.ids[i]];
      low = r < low ? r : low, high = r > high ? r : high;
    }
    local.columns[f] = {Mode::constant, nullptr, nullptr, 0, ~u32{0}, false};
    twig.lists[f] = nullptr;
    if (low == high) continue;
    if (high - low < 1u << 20)  // rank and row (at most 4096) fit into 32 bits
      copy_column<12>(w, local, f, twig.lists, low, high, reinterpret_cast<ListKey*>(a), reinterpret_cast<ListKey*>(b));
    else copy_column<16>(w, local, f, twig.lists, low, high, a, b);
    twig.features[twig.n_features++] = f;
  }
}

// ---- the search for the best tests of a twig
template <class P>
struct TwigSearch {
  static constexpr int W = static_cast<int>(sizeof(typename P::V) / sizeof(typename P::T));
  using V = typename P::V;
  Worker& w;
  const Local& local;
  const Twig& twig;
  const LocalRows rows;
  Best& best;
  P p;
  double* stats;
  MissingRows missing_rows;

  TwigSearch(Worker& worker, const Local& l, const Twig& t, Best& b)
      : w(worker), local(l), twig(t), rows{t.info, l.weight, l.product, l.multiplicity}, best(b),
        p(worker.run, t.team, b, worker.scratch.take<double>(static_cast<std::size_t>(2 * worker.run.K() * W + 16))),
        stats(worker.scratch.take<double>(static_cast<std::size_t>(worker.run.K()))) {}

  u32 allowed(int f) const {
    const Problem& problem = w.run.p;
    if (!problem.features) return ~u32{0};
    u32 bits = 0;
    each_bit(twig.team.lanes, [&](int k) {
      bits |= static_cast<u32>(problem.features[static_cast<std::size_t>(w.block * kBlockTasks + twig.team.task[k]) * static_cast<std::size_t>(problem.n_features) + static_cast<std::size_t>(f)] != 0) << k;
    });
    return bits;
  }

  __attribute__((noinline)) void judge(u32 lanes, int f, u64 key) {
    each_bit(lanes, [&](int k) {
      u64 order = key;
      const i64 left = p.rows_left(k);
      if (!missing_rows.meaning(k, left, twig.team.node[k]->n_rows, order)) return;
      p.left(k, stats);
      if (best.offer_left(w.run.judge, twig.team, k, f, order, left, stats)) p.lower(best, k);
    });
  }

  // The lanes whose own neighbours around the cut after list[i] are far enough apart (gap rule).
  u32 parted(u32 lanes, int f, const u32* list, u32 i, u32 n) const {
    const float* values = w.run.p.columns[f].values;
    const u32* global = local.columns[f].global;
    if (apart(values[global[list[i] >> 16]], values[global[list[i + 1] >> 16]])) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 a = i, b = i + 1;
      while (a > 0 && !(rows.info[list[a] & 0xffff] >> k & 1)) a--;
      while (b + 1 < n && !(rows.info[list[b] & 0xffff] >> k & 1)) b++;
      ok |= static_cast<u32>(apart(values[global[list[a] >> 16]], values[global[list[b] >> 16]])) << k;
    });
    return ok;
  }

  // One task alone, a stretch of cuts at a time.
  void scan_stretches(int f, const u32* list, u32 n, u64 phase) {
    constexpr u32 step = P::kStretch;
    const bool close = local.columns[f].any_close;
    u32 i = 0;
    for (; i + 1 < n; i += step) {
      const u32 here = n - i < step ? n - i : step, cuts = n - 1 - i < step ? n - 1 - i : step;
      // What is behind the end of a list may be anything, also no row: a short stretch is filled up with row 0.
      u32 last[step] = {};
      for (u32 k = 0; here < step && k < here; k++) last[k] = list[i + k];
      const auto s = p.stretch(rows, here < step ? last : list + i);
      u32 m = p.promising(s) & ((1u << cuts) - 1);
      while (m) {
        u32 k = static_cast<u32>(__builtin_ctz(m));
        if (m & (m - 1)) {  // the most promising first: most others are then below the new limit
          const auto gains = p.gains(s);
          each_bit(m, [&](int j) { k = gains[j] > gains[k] ? static_cast<u32>(j) : k; });
        }
        const u32 e = list[i + k];
        m &= ~(1u << k);
        if (e >> 16 == list[i + k + 1] >> 16 || (close && !parted(1, f, list, i + k, n))) continue;
        const double q = best.q[0];
        p.at(s, k);
        judge(1, f, numeric_key(phase, e >> 16));
        if (best.q[0] != q) m &= p.promising(s);
      }
      p.at(s, here - 1);
    }
    if (i < n) p.add(rows, list[n - 1] & 0xffff);
  }

  void scan(int f, const u32* list, u32 n, u32 lanes, u64 phase) {
    if constexpr (requires { P::kStretch; } && W == 1) {
      if (!w.run.weighted) return scan_stretches(f, list, n, phase);
    }
    const bool close = local.columns[f].any_close;
    for (u32 i = 0; i + 1 < n; i++) {
      const u32 e = list[i], next = list[i + 1];
      p.add(rows, e & 0xffff);
      if (e >> 16 == next >> 16) continue;
      if constexpr (P::kRuns) {
        // inside a run of one class the quality is strictly convex, so its best cut is at an end or where a lane becomes
        // admissible (or where the gap rule allows one: not looked into); a run is seen only where values do not repeat
        if (!close && P::class_of(rows.info[e & 0xffff]) == P::class_of(rows.info[next & 0xffff]) && (i == 0 || list[i - 1] >> 16 != e >> 16) &&
            i + 2 < n && list[i + 2] >> 16 != next >> 16 && !p.at_edge())
          continue;
      }
      u32 m = p.promising() & lanes;
      if (!m) continue;
      if (close) m = parted(m, f, list, i, n);
      judge(m, f, numeric_key(phase, e >> 16));
    }
    if (n) p.add(rows, list[n - 1] & 0xffff);
  }

  void search_list(int f, const u32* list, u32 n, u32 lanes) {
    const u32 missing = local.columns[f].missing_rank;
    u32 present = n;
    while (present > 0 && list[present - 1] >> 16 == missing) present--;
    if (present < n) add_missing(list, present, n);
    p.clear();
    scan(f, list, present, lanes, kMissingRight);
    if (present == n || present == 0) return;
    judge(p.promising() & lanes, f, numeric_key(kPresence, 0));
    add_missing(list, present, n);
    scan(f, list, present, lanes, kMissingLeft);
    missing_rows = {};
  }
  void add_missing(const u32* list, u32 present, u32 n) {
    p.clear();
    for (u32 i = present; i < n; i++) p.add(rows, list[i] & 0xffff);
    count_missing();
  }
  void count_missing() {
    each_bit(twig.team.lanes, [&](int k) { missing_rows.n[k] = p.rows_left(k); });
  }

  V* fill_cells(int f, u32* count) {
    const LocalColumn& column = local.columns[f];
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    V* cells = w.scratch.take<V>(parts * column.n_ranks);
    for (std::size_t i = 0; i < parts * column.n_ranks; i++) cells[i] = V{};
    for (u32 v = 0; v < column.n_ranks; v++) count[v] = 0;
    for (u32 i = 0; i < twig.n; i++) {
      const u32 row = twig.rows[i], v = column.rank[row];
      p.add_to(cells + parts * v, rows, row), count[v]++;
    }
    return cells;
  }

  // The same for cells: v and the next value present in the bundle.
  u32 parted_cells(u32 lanes, int f, const V* cells, const u32* count, u32 v, u32 next) {
    const float* values = w.run.p.columns[f].values;
    const LocalColumn& column = local.columns[f];
    if (apart(values[column.global[v]], values[column.global[next]])) return lanes;
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    const u32 end = column.missing_rank == ~u32{0} ? column.n_ranks : column.missing_rank;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 a = v, b = next;
      const auto own = [&](u32 x) { return count[x] && p.cell_stats(cells + parts * x, k, stats) > 0; };
      while (a > 0 && !own(a)) a--;
      while (b + 1 < end && !own(b)) b++;
      ok |= static_cast<u32>(apart(values[column.global[a]], values[column.global[b]])) << k;
    });
    return ok;
  }

  void search_cells(int f, u32 lanes) {
    const LocalColumn& column = local.columns[f];
    const auto mark = w.scratch.mark();
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    u32* count = w.scratch.take<u32>(column.n_ranks);
    const V* cells = fill_cells(f, count);
    const bool missing = column.missing_rank != ~u32{0} && count[column.missing_rank];
    const u32 end = column.missing_rank == ~u32{0} ? column.n_ranks : column.missing_rank;
    if (missing) p.clear(), p.add_cell(cells + parts * column.missing_rank), count_missing();
    for (u64 phase : {kMissingRight, kMissingLeft}) {
      if (phase == kMissingLeft && !missing) break;
      p.clear();
      if (phase == kMissingLeft) p.add_cell(cells + parts * column.missing_rank);
      u32 v = 0;
      while (v < end && !count[v]) v++;
      while (v < end) {
        u32 next = v + 1;
        while (next < end && !count[next]) next++;
        p.add_cell(cells + parts * v);
        if (next < end) {
          u32 m = p.promising() & lanes;
          if (m && column.any_close) m = parted_cells(m, f, cells, count, v, next);
          if (m) judge(m, f, numeric_key(phase, v));
        } else if (missing && phase == kMissingRight) {
          judge(p.promising() & lanes, f, numeric_key(kPresence, 0));
        }
        v = next;
      }
    }
    missing_rows = {};
    w.scratch.release(mark);
  }

  void search_nominal(int f, u32 lanes) {
    const LocalColumn& column = local.columns[f];
    const auto mark = w.scratch.mark();
    const std::size_t parts = static_cast<std::size_t>(p.parts());
    const std::size_t K = static_cast<std::size_t>(w.run.K());
    u32* count = w.scratch.take<u32>(column.n_ranks);
    const V* cells = fill_cells(f, count);
    double* table = w.scratch.take<double>(K * column.n_ranks);
    i64* n = w.scratch.take<i64>(column.n_ranks);
    each_bit(twig.team.lanes & lanes, [&](int k) {
      for (u32 v = 0; v < column.n_ranks; v++) n[v] = p.cell_stats(cells + parts * v, k, table + K * v);
      const NominalChoice c = choose_nominal(w.run, table, n, static_cast<int>(column.n_ranks), *twig.team.node[k], twig.team.min_leaf[k], w.scratch, nullptr);
      if (best.beats(k, c.q, f, c.key)) best.q[k] = c.q, best.feature[k] = f, best.key[k] = c.key, p.lower(best, k);
    });
    w.scratch.release(mark);
  }

  void search_sorting(int f, u32 lanes) {  // few rows of a column with many values: sort them here
    const auto mark = w.scratch.mark();
    ListKey* keys = w.scratch.take<ListKey>(twig.n + kListRoom);
    const u16* rank = local.columns[f].rank;
    for (u32 i = 0; i < twig.n; i++) keys[i].v = static_cast<u32>(rank[twig.rows[i]]) << 16 | twig.rows[i];
    if (twig.n <= 32) insertion_sort(keys, twig.n);
    else std::sort(keys, keys + twig.n);
    if (keys[0].v >> 16 != keys[twig.n - 1].v >> 16) search_list(f, &keys[0].v, twig.n, lanes);
    w.scratch.release(mark);
  }

  void run() {
    for (int j = 0; j < twig.n_features; j++) {
      const int f = twig.features[j];
      const u32 lanes = allowed(f) & twig.team.lanes;
      if (!lanes) continue;
      const LocalColumn& column = local.columns[f];
      switch (column.mode) {
        case Mode::list: search_list(f, twig.lists[f], twig.n, lanes); break;
        case Mode::cells:
          if (twig.n * 2 < column.n_ranks) search_sorting(f, lanes);
          else search_cells(f, lanes);
          break;
        case Mode::nominal: search_nominal(f, lanes); break;
        case Mode::constant: break;
      }
    }
  }
};

template <template <int> class P>
void search_twig_as(Worker& w, const Local& local, const Twig& twig, Best& best) {
  const auto mark = w.scratch.mark();
  if (twig.team.n == 1) TwigSearch<P<1>>(w, local, twig, best).run();
  else if (twig.team.n <= 8) TwigSearch<P<8>>(w, local, twig, best).run();
  else TwigSearch<P<16>>(w, local, twig, best).run();
  w.scratch.release(mark);
}

inline void search_twig(Worker& w, const Local& local, const Twig& twig, Best& best) {
  switch (w.run.family) {
    case Run::Family::binary_gini: return search_twig_as<BinaryGini>(w, local, twig, best);
    case Run::Family::many_gini: return search_twig_as<ManyGini>(w, local, twig, best);
    case Run::Family::any_classes: return search_twig_as<AnyClasses>(w, local, twig, best);
    case Run::Family::moments: return search_twig_as<Moments>(w, local, twig, best);
  }
}

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
  const auto copy = [&](const double* from) -> const double* {
    if (!from) return nullptr;
    double* to = w.scratch.take<double>(n);
    for (u32 i = 0; i < n; i++) to[i] = from[ids[i]];
    return to;
  };
  local.weight = copy(p.weight), local.product = copy(p.product);
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

// A small bundle's rows, copied into a local table: local ranks per column, and every column's rows in order once, so that the bundles
// below only filter the sorted lists. Columns with few values are counted into value × lane cells instead.
#pragma once
#include "bundle.hpp"
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

struct LocalTable {
  u32 n;
  const u32* ids;
  LocalColumn* columns;
  const u8* cls8;        // classes of the rows, if there are at most 256...
  const u16* cls16;      // ...or more
  const double *weight, *product;
  const u8* times;       // [row][kLanes] or null
  u32 cls(u32 row) const { return cls8 ? cls8[row] : cls16 ? cls16[row] : 0; }
};

// A bundle inside a local table.
struct LocalBundle : Bundle {
  u32 n_rows;
  u16* rows;      // rows of the local table, ascending
  u32* info;      // by row of the local table (ScanRows)
  u32** lists;    // per column: rank << 16 | row, sorted (list mode)
  int* features;  // columns that are not constant here
  int n_features;
};

struct LocalRows {
  u32 n;
  const u16* rows;
  const u32* info;
  const LocalTable& table;
  u32* const* lists;

  LocalRows(const LocalTable& t, const LocalBundle& b) : n(b.n_rows), rows(b.rows), info(b.info), table(t), lists(b.lists) {}
  // The column's rows in order, if they are kept so (null otherwise).
  const u32* sorted(int f) const { return table.columns[f].mode == Mode::list ? lists[f] : nullptr; }
  u32 mask_of(u32 entry) const { return info[entry & 0xffff] & 0xffff; }
  CC_INLINE u32 mask(u32 i) const { return info[rows[i]] & 0xffff; }
  CC_INLINE u32 rank(int f, u32 i) const { return table.columns[f].rank[rows[i]]; }
  CC_INLINE std::size_t row(u32 i) const { return table.ids[rows[i]]; }
  u32 value_rank(int f, u32 r) const { return table.columns[f].global[r]; }
  u32 missing_rank(int f) const { return table.columns[f].missing_rank; }
  u32 n_ranks(int f) const { return table.columns[f].n_ranks; }
};

// Copies column f of the table: local ranks, and the sorted list where one is kept.
template <int kRowBits, class Key>
void copy_column(Worker& w, LocalTable& table, int f, u32** lists, u32 low, u32 high, Key* a, Key* b) {
  const Column& column = w.run.p.columns[f];
  LocalColumn& out = table.columns[f];
  const u32 n = table.n;
  using Word = decltype(a->v);
  for (u32 i = 0; i < n; i++) a[i].v = static_cast<Word>(column.ranks[table.ids[i]] - low) << kRowBits | i;
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

inline void copy_columns(Worker& w, LocalTable& table, LocalBundle& bundle) {
  const u32 n = table.n;
  SortKey *a = w.scratch.take<SortKey>(n), *b = w.scratch.take<SortKey>(n);
  for (int f = 0; f < w.run.p.n_features; f++) {
    const u32* ranks = w.run.p.columns[f].ranks;
    u32 low = ~u32{0}, high = 0;
    for (u32 i = 0; i < n; i++) {
      const u32 r = ranks[table.ids[i]];
      low = r < low ? r : low, high = r > high ? r : high;
    }
    table.columns[f] = {Mode::constant, nullptr, nullptr, 0, ~u32{0}, false};
    bundle.lists[f] = nullptr;
    if (low == high) continue;
    if (high - low < 1u << 20)  // rank and row (at most 4096) fit into 32 bits
      copy_column<12>(w, table, f, bundle.lists, low, high, reinterpret_cast<ListKey*>(a), reinterpret_cast<ListKey*>(b));
    else copy_column<16>(w, table, f, bundle.lists, low, high, a, b);
    bundle.features[bundle.n_features++] = f;
  }
}

template <class Class>
const Class* copy_classes(Worker& w, u32 n, const u32* ids) {
  Class* classes = w.scratch.take<Class>(n);
  for (u32 i = 0; i < n; i++) classes[i] = static_cast<Class>(w.run.p.classes[ids[i]]);
  return classes;
}

// The rows of a bundle as a local table; `out` becomes the bundle in it.
inline LocalTable make_local_table(Worker& w, const Bundle& bundle, u32 n, const u32* ids, const u16* masks, LocalBundle& out) {
  const Problem& p = w.run.p;
  const auto F = static_cast<std::size_t>(p.n_features);
  const auto row = [ids](u32 i) { return ids[i]; };
  LocalTable table{};
  table.n = n, table.ids = ids, table.columns = w.scratch.take<LocalColumn>(F);
  if (p.n_classes > 256) table.cls16 = copy_classes<u16>(w, n, ids);
  else if (p.n_classes) table.cls8 = copy_classes<u8>(w, n, ids);
  table.weight = gathered(w.scratch, p.weight, n, row), table.product = gathered(w.scratch, p.product, n, row);
  table.times = times_of_lanes(w, n, row);
  out = {bundle, n, w.scratch.take<u16>(n), w.scratch.take<u32>(n), w.scratch.take<u32*>(F), w.scratch.take<int>(F), 0};
  for (u32 i = 0; i < n; i++) out.rows[i] = static_cast<u16>(i), out.info[i] = w.run.describe(masks[i], table.cls(i));
  copy_columns(w, table, out);
  return table;
}

}  // namespace crosscut::CROSSCUT_LEVEL

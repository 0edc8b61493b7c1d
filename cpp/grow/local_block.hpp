// A small bundle's rows, copied into one contiguous block: local ranks per column, and every column's rows in order once, so that the
// bundles below only filter the sorted lists. Columns with few values are counted into value × lane cells instead.
#pragma once
#include "lane_statistics.hpp"
#include "settle.hpp"
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

}  // namespace crosscut::CROSSCUT_LEVEL

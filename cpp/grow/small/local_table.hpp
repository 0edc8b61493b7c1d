// A local table: a copy of the rows of a small bundle in which its tasks are grown to the end.
// Columns get local ranks and are sorted once; the nodes below only split the sorted lists.
// Compared with refining every bundle as a large one this makes small tables 6 times
// (classification) and 20 times (regression) faster.
#pragma once
#include <cmath>

#include "data/grid.hpp"
#include "grow/bundle.hpp"
#include "grow/simd/lists.hpp"
#include "grow/simd/sorting.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// the most values of a column with sums by value (value_sums.hpp)
constexpr u32 kMostValues = 512;

struct LocalColumn {
  u16* rank;         // [n] local dense rank
  u32* global;       // [n_ranks] the table's rank of a local rank
  u32* list;         // [n] entries (lists.hpp), sorted; null if the column is coded
  u16* masks;        // [n] lane masks of the entries; 0 behind the end
  u32 n_ranks;       // distinct values, counting missing as one; 0: constant column
  u32 missing_rank;  // local rank of missing, ~0 if none
  bool coded;        // has no list: row_bits.hpp or value_sums.hpp is used

  // Is coding faster than a list? Measured with AVX2: a value takes a step per class and 64 rows
  // plus the evaluation of its cut; a row in a list takes a step per class plus its split.
  static bool coding_pays(const Run& run, u32 values, u32 n) {
    const u32 c = static_cast<u32>(run.p.n_classes);
    if (!c)
      return !off(Acceleration::value_sums) && !run.weighted && values <= kMostValues &&
             4 * values <= n && values * static_cast<u32>(run.p.n_features) < 1u << 16;
    if (off(Acceleration::row_bits)) return false;
    return run.all_bits ||
           (run.counted && c <= kListClasses && values * (c * n / 80 + 6) <= n * (c + 14) / 16);
  }
};

struct LocalTable {
  u32 n;
  const u32* ids;
  const u16* masks;
  LocalColumn* columns;
  int* varying;  // columns that are not constant
  int n_varying = 0;
  const u32* info;  // [row] ScanRows::info for a single task
  const u16* tag;   // [row] class << 12 | last 12 bits of the row
  const double *weight, *product, *target;
  // rows for which the products have a centre and a unit of their own; 0: they are the problem's
  u32 own_grid;
  const u8* times;     // [row][kLanes] or null
  const RowSet* keys;  // [row]; null if subtrees are not shared
  // Copies of a row are neighbours and go the same way in every test.
  bool is_copy(u32 row) const { return row && ids[row] == ids[row - 1]; }
};

// The rows of one task's node, read from any of its lists.
struct SingleRows {
  u32 n;
  const u32* list;
  const LocalTable& table;

  CC_INLINE u32 at(u32 i) const { return list[i] & kRowMask; }
  CC_INLINE u32 mask(u32) const { return 1; }
  CC_INLINE u32 rank(int f, u32 i) const { return table.columns[f].rank[at(i)]; }
  CC_INLINE std::size_t row(u32 i) const { return table.ids[at(i)]; }
  bool is_copy(u32 i) const { return table.is_copy(at(i)); }
  double product(u32 i) const { return table.product[at(i)]; }
  u32 value_rank(int f, u32 r) const { return table.columns[f].global[r]; }
  u32 missing_rank(int f) const { return table.columns[f].missing_rank; }
  u32 n_ranks(int f) const { return table.columns[f].n_ranks; }
};

// The same rows, to count those that are no copies. Bits can have more rows than entries can name.
struct RowsOnce {
  u32 n;
  const u32* entries;
  u32 row_mask;  // the bits of an entry that name its row
  const LocalTable& table;

  CC_INLINE u32 mask(u32) const { return 1; }
  CC_INLINE u32 rank(int f, u32 i) const { return table.columns[f].rank[entries[i] & row_mask]; }
  bool is_copy(u32 i) const { return table.is_copy(entries[i] & row_mask); }
  u32 missing_rank(int f) const { return table.columns[f].missing_rank; }
};

// Copies column f, given the ranks of the rows: local ranks and the sorted list.
template <int kRowBits, class Key>
void copy_column(Worker& w, LocalTable& table, int f, const u32* of_table, u32 low, u32 high,
                 Key* a, Key* b) {
  LocalColumn& out = table.columns[f];
  const u32 n = table.n;
  using Word = decltype(a->v);
  for (u32 i = 0; i < n; i++) a[i].v = static_cast<Word>(of_table[i] - low) << kRowBits | i;
  a = sort_keys<kRowBits>(a, b, n, high - low);
  constexpr Word row_mask = (Word{1} << kRowBits) - 1;
  out.rank = w.scratch.take<u16>(n);
  out.global = w.scratch.take<u32>(n);
  u32* list = out.list = w.scratch.take<u32>(n + kListRoom);
  u16* masks = out.masks = w.scratch.take<u16>(n + kListRoom);
  std::fill_n(list + n, kListRoom, 0u);
  std::fill_n(masks + n, kListRoom, u16{0});
  u32 ranks = 0;
  Word last = a[0].v >> kRowBits;
  out.global[0] = static_cast<u32>(last) + low;
  for (u32 i = 0; i < n; i++) {
    const Word r = a[i].v >> kRowBits;
    ranks += r != last;
    last = r;
    const u32 row = static_cast<u32>(a[i].v & row_mask);
    out.global[ranks] = static_cast<u32>(r) + low;
    out.rank[row] = static_cast<u16>(ranks);
    list[i] = ranks << 16 | table.tag[row];
    masks[i] = table.masks[row];
  }
  out.n_ranks = ranks + 1;
  out.coded = LocalColumn::coding_pays(w.run, out.n_ranks, n);
}

// Copies a column without a list, to be coded. Returns false if a list is faster.
inline bool code_column(Worker& w, LocalTable& table, int f, const u32* of_table, u32 low,
                        u32 high) {
  const u32 n = table.n;
  LocalColumn& out = table.columns[f];
  u16* local = w.scratch.take<u16>(high - low + 1);
  std::fill_n(local, high - low + 1, u16{0});
  for (u32 i = 0; i < n; i++) local[of_table[i] - low] = 1;
  u32 values = 0;
  for (u32 r = 0; r <= high - low; r++) values += local[r];
  if (!LocalColumn::coding_pays(w.run, values, n)) return false;
  out.rank = w.scratch.take<u16>(n);
  out.global = w.scratch.take<u32>(values);
  out.coded = true;
  for (u32 r = 0; r <= high - low; r++)
    if (local[r]) {
      out.global[out.n_ranks] = low + r;
      local[r] = static_cast<u16>(out.n_ranks++);
    }
  for (u32 i = 0; i < n; i++) out.rank[i] = local[of_table[i] - low];
  return true;
}

// to[i] = from[rows[i]]
template <class T>
void gather(const T* __restrict from, const u32* __restrict rows, u32 n, u32* __restrict to) {
  for (u32 i = 0; i < n; i++) to[i] = from[rows[i]];
}

inline void copy_columns(Worker& w, LocalTable& table) {
  const u32 n = table.n;
  SortKey *a = w.scratch.take<SortKey>(n), *b = w.scratch.take<SortKey>(n);
  u32* of_table = w.scratch.take<u32>(n);  // ranks of the rows, which are anywhere in the table
  for (int f = 0; f < w.run.p.n_features; f++) {
    const Column& column = w.run.p.columns[f];
    if (column.ranks) gather(column.ranks, table.ids, n, of_table);
    else gather(column.coarse, table.ids, n, of_table);
    u32 low = ~u32{0}, high = 0;
    for (u32 i = 0; i < n; i++) {
      low = of_table[i] < low ? of_table[i] : low;
      high = of_table[i] > high ? of_table[i] : high;
    }
    table.columns[f] = {nullptr, nullptr, nullptr, nullptr, 0, ~u32{0}, false};
    if (low == high) continue;
    if ((w.run.all_bits || high - low < kMostValues) &&
        code_column(w, table, f, of_table, low, high)) {
    } else if (high - low < 1u << 20) {  // rank and row (at most 4096) fit into 32 bits
      copy_column<12>(w, table, f, of_table, low, high, reinterpret_cast<ListKey*>(a),
                      reinterpret_cast<ListKey*>(b));
    } else {
      copy_column<16>(w, table, f, of_table, low, high, a, b);
    }
    LocalColumn& out = table.columns[f];
    if (column.has_missing && high == column.n_values && !column.nominal)
      out.missing_rank = out.n_ranks - 1;
    table.varying[table.n_varying++] = f;
  }
}

// Targets on a grid of their own: a centre and a unit for these rows, so that targets of a wide
// range are not all below the unit of the table. Null if the range is not finite.
inline const double* on_own_grid(Worker& w, const double* target, u32 n) {
  double sum = 0;
  for (u32 i = 0; i < n; i++) sum += target[i] / n;
  double most = 0;
  for (u32 i = 0; i < n; i++) most = std::max(most, std::fabs(target[i] - sum));
  if (!(most > 0 && most < std::numeric_limits<double>::infinity())) return nullptr;
  const int bits = 51 - (32 - __builtin_clz(n));  // sums of n integers are exact
  double* product = w.scratch.take<double>(n);
  put_on_grid(target, n, sum, bits - std::ilogb(most), product);
  return product;
}

// Nodes with a range of fewer units have a new grid if the present one leaves their tests open.
constexpr double kNarrow = 0x1p32;

// Of targets on a grid. narrow(): does the grid distinguish them so badly that a new one pays?
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;

  CC_INLINE void add(double product) {
    low = std::min(low, product);
    high = std::max(high, product);
  }
  bool narrow() const {
    return high - low < kNarrow || 0x1p12 * (high - low) < std::max(high, -low);
  }
};
// Is the grid narrow for n rows, row(i), of a local table?
template <class Row> bool is_narrow(const LocalTable& table, u32 n, Row row) {
  if (!table.own_grid || n == table.own_grid) return false;
  Range range;
  for (u32 i = 0; i < n; i++) range.add(table.product[row(i)]);
  return range.narrow();
}

// The same table with n of its rows, row(i), on a grid of their own, and the statistics of a node
// with these rows. The products of other rows are undefined.
template <class Row>
LocalTable on_new_grid(Worker& w, const LocalTable& table, Node& node, u32 n, Row row) {
  double* target = w.scratch.take<double>(n);
  for (u32 i = 0; i < n; i++) target[i] = table.target[row(i)];
  LocalTable own = table;
  own.own_grid = n;
  if (const double* product = on_own_grid(w, target, n)) {
    double* to = w.scratch.take<double>(table.n);
    for (u32 i = 0; i < n; i++) to[row(i)] = product[i];
    own.product = to;
  }
  node.stats = w.keep<double>(2);
  node.stats[0] = 0;
  node.stats[1] = n;
  for (u32 i = 0; i < n; i++) node.stats[0] += own.product[row(i)];
  w.level(node.depth).new_grids++;
  return own;
}

// alone: only one task will be grown.
inline LocalTable make_local_table(Worker& w, u32 n, const u32* ids, const u16* masks, bool alone) {
  const Problem& p = w.run.p;
  const auto F = static_cast<std::size_t>(p.n_features);
  const auto row = [ids](u32 i) { return ids[i]; };
  LocalTable table{};
  table.n = n;
  table.ids = ids;
  table.masks = masks;
  table.columns = w.scratch.take<LocalColumn>(F);
  table.varying = w.scratch.take<int>(F);
  u32* info = w.scratch.take<u32>(n);
  u16* tag = w.scratch.take<u16>(n);
  for (u32 i = 0; i < n; i++) {
    const u32 c = p.n_classes ? static_cast<u32>(p.classes[ids[i]]) : 0;
    info[i] = w.run.describe(1, c);
    tag[i] = static_cast<u16>(p.n_classes <= kListClasses ? c << 12 | (i & kRowMask) : i);
  }
  table.info = info;
  table.tag = tag;
  table.weight = w.gathered(p.weight, n, row);
  table.product = w.gathered(p.product, n, row);
  table.target = w.gathered(p.target, n, row);
  table.own_grid = 0;
  if (const double* own = w.run.own_grids ? on_own_grid(w, table.target, n) : nullptr) {
    table.product = own;
    table.own_grid = n;
  }
  table.times = times_of_lanes(w, n, row);
  const bool shares = w.run.shares && (!alone || w.run.shares_across_blocks);
  if (shares && !off(Acceleration::shared_subtrees)) {
    RowSet* keys = w.scratch.take<RowSet>(n);
    for (u32 i = 0; i < n; i++) {
      keys[i] = {};
      keys[i].add(ids[i]);
    }
    table.keys = keys;
  }
  copy_columns(w, table);
  return table;
}

}  // namespace crosscut::CROSSCUT_LEVEL

// Nodes of up to 64 rows: a set of rows is one 64-bit word. A column is the list of the sets that
// its tests send left. For a child, each set is intersected with the rows of the child, so nothing
// is sorted or split (few_rows.hpp has the gain).
#pragma once
#include <array>

#include "row_bits.hpp"
#include "value_sums.hpp"

namespace crosscut::CROSSCUT_LEVEL {

using FewSet = u64;
constexpr u32 kWordRows = 64;

constexpr FewSet one_row(u32 i) { return FewSet{1} << i; }
constexpr FewSet first_rows(u32 n) { return ~FewSet{0} >> (kWordRows - n); }
inline u32 lowest_row(FewSet s) { return static_cast<u32>(__builtin_ctzll(s)); }

struct FewColumn {
  int f;
  u32 n;  // number of sets
  bool nominal;
  // numeric: for every value but the last, the rows up to it, without missing values; nominal: the
  // rows of each category
  FewSet* sets;
  u16* codes;  // ranks of the values, including the last
  FewSet missing;

  // Restricts a column to `rows`. Returns false if it is constant there.
  bool narrow(FewSet rows, FewColumn& to) const {
    u32 kept = 0;
    if (nominal) {
      for (u32 i = 0; i < n; i++) {
        to.sets[kept] = sets[i] & rows;
        to.codes[kept] = codes[i];
        kept += to.sets[kept] != 0;
      }
      to.n = kept;
      return kept > 1;
    }
    FewSet before = 0;
    for (u32 i = 0; i < n; i++) {
      const FewSet s = to.sets[kept] = sets[i] & rows;
      to.codes[kept] = codes[i];
      if (s == rows) {
        to.n = kept;
        return kept > 0;
      }
      kept += s != before;
      before = s;  // avoids an unpredictable branch
    }
    to.codes[kept] = codes[n];
    to.n = kept;
    return kept > 0;
  }
};

// The columns of a node that are not constant and that its task may use, in ascending order.
template <class Code> class FewColumns {
  Worker& w;
  const LocalTable& table;
  const SingleNode<Code>& x;
  const u16* row;  // [row of the node] row of the local table

 public:
  FewColumn* columns;
  int n = 0;

  FewColumns(Worker& worker, const LocalTable& t, const Bundle& bundle,
             const SingleNode<Code>& node, const u16* rows)
      : w(worker),
        table(t),
        x(node),
        row(rows),
        columns(w.scratch.take<FewColumn>(static_cast<std::size_t>(x.n_columns + x.code.n))) {
    const auto most = static_cast<std::size_t>(x.n_columns + x.code.n);
    FewSet* sets = w.scratch.take<FewSet>(most * x.n);
    u16* codes = w.scratch.take<u16>(most * (x.n + 1));
    const auto add = [&](int f) -> FewColumn* {
      if (!allowed_lanes(w, bundle, f)) return nullptr;
      FewColumn& c = columns[n++] = {f, 0, w.run.p.columns[f].nominal, sets, codes, 0};
      sets += x.n;
      codes += x.n + 1;
      return &c;
    };
    for (int j = 0; j < x.code.n; j++) {
      const u32 at = x.code.places[j];
      FewColumn* c = add(x.code.feature(at));
      if (c && !take_coded(at, *c)) n--;
    }
    u8* place = w.scratch.take<u8>(x.n_columns ? table.n : 0);
    for (u32 i = 0; i < x.n && x.n_columns; i++) place[row[i]] = static_cast<u8>(i);
    for (int j = 0; j < x.n_columns; j++)
      if (FewColumn* c = add(x.columns[j])) take_list(x.lists[j], place, *c);
    if (x.code.most())
      std::sort(columns, columns + n,
                [](const FewColumn& a, const FewColumn& b) { return a.f < b.f; });
  }

 private:
  void take_list(const u32* list, const u8* place, FewColumn& c) {
    FewSet rows = 0;
    for (u32 i = 0; i < x.n; i++) {
      rows |= one_row(place[list[i] & kRowMask]);
      c.codes[c.n] = static_cast<u16>(list[i] >> 16);
      if (i + 1 < x.n ? list[i] >> 16 == list[i + 1] >> 16 : !c.nominal) continue;
      c.sets[c.n++] = rows;
      if (c.nominal) rows = 0;
    }
    if (!c.nominal && list[x.n - 1] >> 16 == table.columns[c.f].missing_rank)
      c.missing = first_rows(x.n) & ~c.sets[c.n - 1];
  }
  // Returns false if the column is constant here.
  bool take_coded(u32 place, FewColumn& c) {
    if constexpr (Code::kEachRow) return take_bits(x.code.all->columns[place], c);
    else return x.code.n_values(place) <= 256 ? take_ranks<256>(c) : take_ranks<kMostValues>(c);
  }
  // Rows have the order of the bits of the node.
  bool take_bits(const CodedColumn& from, FewColumn& c) {
    const LocalColumn& column = table.columns[c.f];
    const FewSet every = first_rows(x.n);
    FewSet left = 0;
    const auto add = [&](u32 v, FewSet rows) {
      left |= rows;
      c.codes[c.n] = from.rank[v];
      if (!c.nominal && left == every) return;
      c.sets[c.n++] = c.nominal ? rows : left;
    };
    if (from.n_values * x.code.all->words > x.n) {  // row by row
      const auto mark = w.scratch.mark();
      FewSet* of = w.scratch.take<FewSet>(column.n_ranks);
      for (u32 v = 0; v < from.n_values; v++) of[from.rank[v]] = 0;
      for (u32 i = 0; i < x.n; i++) of[column.rank[row[i]]] |= one_row(i);
      for (u32 v = 0; v < from.n_values && left != every; v++)
        if (const FewSet rows = of[from.rank[v]]) add(v, rows);
      w.scratch.release(mark);
    } else {
      for (u32 v = 0; v < from.n_values && left != every; v++) {
        FewSet rows = 0;
        for (u32 k = 0, at = 0; k < x.code.all->words && at < x.n;
             at += count_bits(x.code.rows[k++]))
          rows |= pack_bits(from.rows[v * x.code.all->words + k], x.code.rows[k]) << at;
        if (rows) add(v, rows);
      }
    }
    if (c.nominal) return c.n > 1;
    if (column.missing_rank != ~u32{0})
      for (u32 i = 0; i < x.n; i++)
        if (column.rank[row[i]] == column.missing_rank) c.missing |= one_row(i);
    return c.n > 0;
  }
  // The same for a column with at most kMost values.
  template <u32 kMost> bool take_ranks(FewColumn& c) {
    const u16* rank = table.columns[c.f].rank;
    const u32 missing = table.columns[c.f].missing_rank;
    u64 values[kMost / 64] = {};
    FewSet of[kMost];
    for (u32 i = 0; i < x.n; i++) {
      of[rank[row[i]]] = 0;
      values[rank[row[i]] >> 6] |= u64{1} << (rank[row[i]] & 63);
    }
    for (u32 i = 0; i < x.n; i++) of[rank[row[i]]] |= one_row(i);
    FewSet left = 0;
    each_bit_of(values, kMost / 64, [&](u32 v) {
      left |= of[v];
      c.sets[c.n] = c.nominal ? of[v] : left;
      c.codes[c.n++] = static_cast<u16>(v);
    });
    if (c.nominal) return c.n > 1;
    if (missing < kMost && values[missing >> 6] >> (missing & 63) & 1) c.missing = of[missing];
    return --c.n > 0;  // there is no cut after the last value
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

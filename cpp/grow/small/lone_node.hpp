// One task's node in a local table. Columns with many values have sorted lists of its rows. Where rows are counted, columns with few values
// need none: a row is a bit, and the bits of a value's rows that are also the node's are counted, 64 rows at a time. A side of a test is
// a set of bits, too, so that such columns are not parted at all.
#pragma once
#include "value_sums.hpp"

namespace crosscut::CROSSCUT_LEVEL {

CC_INLINE u32 count_bits(u64 bits) { return static_cast<u32>(__builtin_popcountll(bits)); }

template <class F>
CC_INLINE void each_bit_of(const u64* bits, u32 words, F f) {
  for (u32 i = 0; i < words; i++)
    for (u64 m = bits[i]; m; m &= m - 1) f(i * 64 + static_cast<u32>(__builtin_ctzll(m)));
}

// Keeps the bits of `from` that `keep` names, packed together. Returns whether there are any. to: has a word more than they need.
inline bool pack_words(const u64* from, const u64* keep, u32 words, u64* to) {
  u64 word = 0, any = 0;
  u32 at = 0;
  for (u32 i = 0; i < words; i++) {
    const u64 bits = pack_bits(from[i], keep[i]);
    const u32 shift = at & 63, n = count_bits(keep[i]);
    any |= bits, word |= bits << shift, at += n;
    if (shift + n < 64) continue;
    *to++ = word, word = shift ? bits >> (64 - shift) : 0;
  }
  *to = word;
  return any;
}

struct CodedColumn {
  int f;
  u32 n_values;
  u16* rank;  // [n_values] ranks of the local table, ascending
  u64* rows;  // [n_values][words] the bits of the rows with a value
};

// Rows as bits.
struct BitRows {
  u32 n, words;
  u16 *row, *bit;  // the local table's row of every bit; the bit of its rows
  u64* classes;    // [class][words]
  CodedColumn* columns;
  int n_columns;

  static BitRows* empty(Worker& w, const LocalTable& table, u32 n, int n_columns) {
    BitRows* out = w.scratch.take<BitRows>(1);
    const u32 words = (n + 63) / 64;
    *out = {n, words, w.scratch.take<u16>(n), w.scratch.take<u16>(table.n), nullptr, w.scratch.take<CodedColumn>(static_cast<std::size_t>(n_columns)), 0};
    out->classes = out->no_rows(w, static_cast<u32>(w.run.K()));
    return out;
  }
  u64* no_rows(Worker& w, u32 sets) const {
    u64* bits = w.scratch.take<u64>(sets * words + 1);
    std::fill_n(bits, sets * words + 1, u64{0});
    return bits;
  }
  CodedColumn& add_column(Worker& w, int f, u32 most_values) { return columns[n_columns++] = {f, 0, w.scratch.take<u16>(most_values), no_rows(w, most_values)}; }
  CC_INLINE void set(u64* bits, u32 set, u32 i) const { bits[set * words + i / 64] |= u64{1} << i % 64; }
  void number(const LocalTable& table, const Problem& p, u32 i, u32 local) {
    row[i] = static_cast<u16>(local), bit[local] = static_cast<u16>(i);
    set(classes, static_cast<u32>(p.classes[table.ids[local]]), i);
  }

  // All rows of a local table; null if no column is coded.
  static const BitRows* of(Worker& w, const LocalTable& table) {
    const auto coded = [&](int f) { return w.run.counted && table.columns[f].coded; };
    if (std::none_of(table.varying, table.varying + table.n_varying, coded)) return nullptr;
    BitRows* out = empty(w, table, table.n, table.n_varying);
    for (u32 i = 0; i < table.n; i++) out->number(table, w.run.p, i, i);
    for (int j = 0; j < table.n_varying; j++) {
      const int f = table.varying[j];
      if (!coded(f)) continue;
      const LocalColumn& from = table.columns[f];
      CodedColumn& column = out->add_column(w, f, from.n_ranks);
      for (column.n_values = 0; column.n_values < from.n_ranks; column.n_values++) column.rank[column.n_values] = static_cast<u16>(column.n_values);
      for (u32 i = 0; i < table.n; i++) out->set(column.rows, from.rank[i], i);
    }
    return out;
  }
};

// Its lists and its bits are its own: they are parted in place.
struct LoneNode {
  Node* node;
  u32 n;
  RowSet set;     // of its rows
  int n_columns = 0;
  int* columns;   // with lists: those that are not constant here
  u32** lists;
  const BitRows* bits = nullptr;  // null: all columns have lists
  u64* rows = nullptr;            // its rows among these
  int n_coded = 0;
  u16* coded = nullptr;           // places of the columns among those of `bits` or `values` that are not known to be constant here
  const ValueColumns* values = nullptr;  // null: all columns have lists
  ValueSum* sums = nullptr;              // of its rows, by value
  u32* entries = nullptr;                // its rows

  bool constant() const { return !n_columns && !n_coded; }
  bool sparse() const {
    if (bits) return bits->words > 1 && n <= bits->words * 24;
    return std::any_of(coded, coded + n_coded, [&](u32 c) { return !ValueColumns::pays(values->n_values(c), n); });
  }
  const u32* any_list() const { return values ? entries : n_columns ? lists[0] : nullptr; }

  static LoneNode empty(Worker& w, Node* node, u32 n, const RowSet& set, const BitRows* bits, const ValueColumns* values, int most_columns, int most_coded) {
    LoneNode x{node, n, set};
    const auto most = static_cast<std::size_t>(values ? most_columns + most_coded : most_columns);
    x.columns = w.scratch.take<int>(most), x.lists = w.scratch.take<u32*>(most);
    x.bits = bits, x.values = values;
    if (bits || values) x.coded = w.scratch.take<u16>(static_cast<std::size_t>(most_coded));
    if (bits) x.rows = w.scratch.take<u64>(bits->words);
    return x;
  }

  // The same node with lists of what has many values for so few rows.
  LoneNode listed(Worker& w, const LocalTable& table) const {
    LoneNode x = *this;
    x.n_coded = 0;
    for (int j = 0; j < n_coded; j++) {
      const u32 c = coded[j], V = values->n_values(c);
      if (ValueColumns::pays(V, n)) {
        x.coded[x.n_coded++] = static_cast<u16>(c);
        continue;
      }
      const ValueSum* own = sums + values->first[c];
      if (own[values->place(entries[0], c) - values->first[c]][1] == static_cast<double>(n)) continue;  // constant
      const u16* rank = table.columns[values->f[c]].rank;
      u32 at[256], begin = 0, *list = w.scratch.take<u32>(n + kListRoom);
      for (u32 v = 0; v < V; v++) at[v] = begin, begin += static_cast<u32>(own[v][1]);
      for (u32 i = 0; i < n; i++) {
        const u32 row = entries[i] & kRowMask;
        list[at[rank[row]]++] = u32{rank[row]} << 16 | table.tag[row];
      }
      std::fill_n(list + n, kListRoom, 0u);
      x.columns[x.n_columns] = values->f[c], x.lists[x.n_columns++] = list;
    }
    return x;
  }

  // The same node with bits of its own rows only. Lists of what has few values by now become bits.
  LoneNode packed(Worker& w, const LocalTable& table) const {
    const Problem& p = w.run.p;
    LoneNode x = empty(w, node, n, set, nullptr, nullptr, n_columns, 0);
    BitRows* to = BitRows::empty(w, table, n, n_coded + n_columns);
    x.bits = to, x.rows = to->no_rows(w, 1), x.coded = w.scratch.take<u16>(static_cast<std::size_t>(n_coded + n_columns));
    u32 i = 0;
    each_bit_of(rows, bits->words, [&](u32 b) { to->set(x.rows, 0, i), to->number(table, p, i++, bits->row[b]); });
    u64* one = to->no_rows(w, 1);
    u16* code = w.scratch.take<u16>(table.n);  // by rank
    for (int j = 0; j < n_coded; j++) {
      const CodedColumn& from = bits->columns[coded[j]];
      CodedColumn& column = to->add_column(w, from.f, from.n_values);
      if (from.n_values * bits->words > n) {  // row by row
        const u16* rank = table.columns[from.f].rank;
        for (u32 v = 0; v < from.n_values; v++) code[from.rank[v]] = 0;
        for (i = 0; i < n; i++) code[rank[to->row[i]]] = 1;
        for (u32 v = 0; v < from.n_values; v++)
          if (const u32 r = from.rank[v]; code[r]) code[r] = static_cast<u16>(column.n_values), column.rank[column.n_values++] = static_cast<u16>(r);
        for (i = 0; i < n; i++) to->set(column.rows, code[rank[to->row[i]]], i);
        continue;
      }
      for (u32 v = 0; v < from.n_values; v++) {
        if (!pack_words(from.rows + v * bits->words, rows, bits->words, one)) continue;
        std::copy_n(one, to->words, column.rows + column.n_values * to->words), column.rank[column.n_values++] = from.rank[v];
      }
    }
    for (int j = 0; j < n_columns; j++) {
      const u32* list = lists[j];
      const u32 found = n_values(list, n);
      if (!LocalColumn::coding_pays(w.run, found, n)) {
        x.columns[x.n_columns] = columns[j], x.lists[x.n_columns++] = lists[j];
        continue;
      }
      CodedColumn& column = to->add_column(w, columns[j], found);
      for (u32 k = 0; k < n; k++) {
        if (!k || list[k] >> 16 != list[k - 1] >> 16) column.rank[column.n_values++] = static_cast<u16>(list[k] >> 16);
        to->set(column.rows, column.n_values - 1, to->bit[list[k] & kRowMask]);
      }
    }
    for (; x.n_coded < to->n_columns; x.n_coded++) x.coded[x.n_coded] = static_cast<u16>(x.n_coded);
    return x;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

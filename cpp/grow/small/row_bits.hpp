// Columns with few values in a local table whose rows are counted. A row is a bit; a value is the
// set of its rows. The statistics of a value are counted with AND and popcount, 64 rows at a time,
// and the sides of a test are sets of bits, so these columns need no lists and no splitting. Gains
// 5% in the median of classification tables and up to 1.6 times on tables of such columns.
#pragma once
#include "single_search.hpp"
#include "single_split.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Packs together the bits of `from` that are set in `keep`. Returns whether there are any. `to` has
// room for one more word.
inline bool pack_words(const u64* from, const u64* keep, u32 words, u64* to) {
  u64 word = 0, any = 0;
  u32 at = 0;
  for (u32 i = 0; i < words; i++) {
    const u64 bits = pack_bits(from[i], keep[i]);
    const u32 shift = at & 63, n = count_bits(keep[i]);
    any |= bits;
    word |= bits << shift;
    at += n;
    if (shift + n < 64) continue;
    *to++ = word;
    word = shift ? bits >> (64 - shift) : 0;
  }
  *to = word;
  return any;
}

struct CodedColumn {
  int f;
  u32 n_values;
  u16* rank;  // [n_values] ranks of the local table, ascending
  u64* rows;  // [n_values][words] bits of the rows with a value
};

// The rows of a local table, or of a node, numbered as bits.
struct BitRows {
  u32 n, words;
  u16 *row, *bit;  // [bit] row of the local table; [row of the local table] bit
  u64* classes;    // [class][words]
  CodedColumn* columns;
  int n_columns;

  static BitRows* empty(Worker& w, const LocalTable& table, u32 n, int n_columns) {
    BitRows* out = w.scratch.take<BitRows>(1);
    const u32 words = (n + 63) / 64;
    *out = {n,
            words,
            w.scratch.take<u16>(n),
            w.scratch.take<u16>(table.n),
            nullptr,
            w.scratch.take<CodedColumn>(static_cast<std::size_t>(n_columns)),
            0};
    out->classes = out->no_rows(w, static_cast<u32>(w.run.K()));
    return out;
  }
  u64* no_rows(Worker& w, u32 sets) const {
    u64* bits = w.scratch.take<u64>(sets * words + 1);
    std::fill_n(bits, sets * words + 1, u64{0});
    return bits;
  }
  CodedColumn& add_column(Worker& w, int f, u32 most_values) {
    return columns[n_columns++] = {f, 0, w.scratch.take<u16>(most_values), no_rows(w, most_values)};
  }
  CC_INLINE void set(u64* bits, u32 set, u32 i) const {
    bits[set * words + i / 64] |= u64{1} << i % 64;
  }
  void number(const LocalTable& table, const Problem& p, u32 i, u32 local) {
    row[i] = static_cast<u16>(local);
    bit[local] = static_cast<u16>(i);
    set(classes, static_cast<u32>(p.classes[table.ids[local]]), i);
  }

  // Numbers all rows of a local table; null if no column is coded.
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
      for (column.n_values = 0; column.n_values < from.n_ranks; column.n_values++)
        column.rank[column.n_values] = static_cast<u16>(column.n_values);
      for (u32 i = 0; i < table.n; i++) out->set(column.rows, from.rank[i], i);
    }
    return out;
  }
};

template <class P> struct BitSearch;
struct BitSplit;

// The code of a node whose columns with few values are sets of bits.
struct BitCode {
  template <class P> using Search = BitSearch<P>;
  using Split = BitSplit;
  template <class P> static constexpr bool kServes = requires { typename P::Values; };
  static constexpr bool kEntries = false;
  static constexpr bool kEachRow = true;
  static constexpr bool kSums = false;
  struct Rows {
    const u64* bits;
    const BitRows* all;
    template <class F> CC_INLINE void each(F f) const {
      each_bit_of(bits, all->words, [&](u32 b) { f(u32{all->row[b]}); });
    }
  };
  const BitRows* all;
  u64* rows = nullptr;  // bits of the node's rows
  int n = 0;
  u16* places = nullptr;

  int most() const { return all->n_columns; }
  int feature(u32 place) const { return all->columns[place].f; }
  u32 n_values(u32 place) const { return all->columns[place].n_values; }
  bool sparse(u32 n_rows) const { return all->words > 1 && n_rows <= all->words * 24; }
  BitCode without_columns(Worker& w, int most_columns) const {
    BitCode x{all};
    x.rows = w.scratch.take<u64>(all->words);
    x.places = w.scratch.take<u16>(static_cast<std::size_t>(most_columns));
    return x;
  }
};
static_assert(NodeCode<BitCode>);

template <class P> struct BitSearch : SingleSearch<P> {
  using Base = SingleSearch<P>;
  using Base::Base, Base::w, Base::table, Base::bundle, Base::best, Base::p, Base::work,
      Base::missing_rows, Base::evaluate, Base::separable;
  using Base::evaluate_categories;

  void run(SingleNode<BitCode>& x) {
    search_coded(x);
    Base::run(x);
  }

 private:
  // The values of a coded column in the node: their ranks and their number of rows per class.
  struct Values {
    u32 n, stride;
    u16* rank;
    u32* counts;  // [n][stride]
    const u32* of(u32 j) const { return counts + j * stride; }
    u32 rows(u32 j) const {
      u32 sum = 0;
      for (u32 c = 0; c < stride; c++) sum += of(j)[c];
      return sum;
    }
  };
  // node_rows: the node's rows of each class present. kWords, kClasses: 0 if not known at compile
  // time.
  template <u32 kWords, int kClasses>
  Values count_values(const CodedColumn& column, const u64* node_rows, u32 words, const u8* present,
                      int n_present, u32 n) {
    const u32 n_words = kWords ? kWords : words;
    const u32 C = static_cast<u32>(w.run.p.n_classes);
    const u32 stride = kClasses ? kClasses : (C + 7) & ~7u;
    const int n_classes = kClasses ? kClasses : n_present;
    Values out{0, stride, w.scratch.template take<u16>(column.n_values),
               w.scratch.template take<u32>(column.n_values * stride)};
    u32 rest[kListClasses] = {}, left = n;
    for (u32 c = 0; c < C; c++) rest[c] = static_cast<u32>(bundle.node[0]->stats[c]);
    for (u32 v = 0; left; v++) {
      u32 *counts = out.counts + out.n * stride, sum = 0;
      out.rank[out.n] = column.rank[v];
      if (v + 1 == column.n_values) {  // the last value has all other rows
        std::copy_n(rest, stride, counts);
        out.n++;
        break;
      }
      if (!kClasses) std::fill_n(counts, stride, 0u);
      const u64* bits = column.rows + v * n_words;
      for (int i = 0; i < n_classes; i++) {
        u32 s = 0;
        for (u32 k = 0; k < n_words; k++)
          s += count_bits(bits[k] & node_rows[static_cast<u32>(i) * n_words + k]);
        const u32 c = kClasses ? static_cast<u32>(i) : present[i];
        counts[c] = s;
        rest[c] -= s;
        sum += s;
      }
      left -= sum;
      out.n += sum > 0;
    }
    return out;
  }
  // Evaluates the cuts between the first n values.
  void scan_values(int f, const Values& values, u32 n, u64 phase) {
    const i64 least = bundle.min_leaf[0], most = bundle.node[0]->n_rows - least;
    typename P::Values left(p);
    work.cuts += n;
    for (u32 j = 0; j + 1 < n; j++) {
      left.add(p, values.of(j));
      const auto rows_left = static_cast<i64>(left.rows());
      if (rows_left > most) return;
      if (rows_left < least || (!off(Acceleration::fast_comparison) && !left.promising(p)))
        continue;
      const u32 a = values.rank[j], b = values.rank[j + 1];
      if (!w.run.p.columns[f].close || separable(f, a << 16, b << 16)) {
        left.put(p);
        evaluate(f, numeric_key(phase, a));
      }
    }
  }
  void search_values(int f, const Values& values) {
    const auto K = static_cast<u32>(w.run.K());
    if (w.run.p.columns[f].nominal) {
      double* sums = w.scratch.template take<double>(values.n * K);
      i64* count = w.scratch.template take<i64>(values.n);
      for (u32 j = 0; j < values.n; j++) {
        std::copy_n(values.of(j), K, sums + j * K);
        count[j] = values.rows(j);
      }
      return evaluate_categories(f, sums, count, values.n, NoTargets{}, NoExactSums{});
    }
    p.clear();
    const u32 present = values.n - (values.rank[values.n - 1] == table.columns[f].missing_rank);
    if (present == values.n) return scan_values(f, values, present, kMissingRight);
    missing_rows.n[0] = values.rows(present);
    scan_values(f, values, present, kMissingRight);
    p.clear();
    typename P::Values without(p), missing(p);
    for (u32 j = 0; j < present; j++) without.add(p, values.of(j));
    without.put(p);
    if (Base::may_beat(p)) evaluate(f, numeric_key(kPresence, 0));
    missing.add(p, values.of(present));
    missing.put(p);
    scan_values(f, values, present, kMissingLeft);
    missing_rows = {};
  }
  void search_coded(SingleNode<BitCode>& x) {
    const BitRows& bits = *x.code.all;
    const u32 words = bits.words;
    u64* node_rows = w.scratch.template take<u64>(words * static_cast<u32>(w.run.p.n_classes));
    u8 present[kListClasses];
    int n_present = 0, kept = 0;
    for (int c = 0; c < w.run.p.n_classes; c++) {
      if (!(bundle.node[0]->stats[c] > 0)) continue;
      for (u32 k = 0; k < words; k++)
        node_rows[static_cast<u32>(n_present) * words + k] =
            bits.classes[static_cast<u32>(c) * words + k] & x.code.rows[k];
      present[n_present++] = static_cast<u8>(c);
    }
    const auto count = w.run.p.n_classes == 2 ? words == 1 ? &BitSearch::count_values<1, 2>
                                                           : &BitSearch::count_values<0, 2>
                       : words == 1           ? &BitSearch::count_values<1, 0>
                                              : &BitSearch::count_values<0, 0>;
    for (int j = 0; j < x.code.n; j++) {
      const CodedColumn& column = bits.columns[x.code.places[j]];
      if (!allowed_lanes(w, bundle, column.f)) continue;
      work.coded_columns++;
      const auto mark = w.scratch.mark();
      const Values values = (this->*count)(column, node_rows, words, present, n_present, x.n);
      if (values.n > 1) {
        x.code.places[kept++] = x.code.places[j];
        search_values(column.f, values);
      }
      w.scratch.release(mark);
    }
    x.code.n = kept;
  }
};

struct BitSplit : SingleSplit<BitCode> {
  using SingleSplit::SingleSplit;

  bool take(bool check_gain, NodeSplit<BitCode>& out) {
    const int f = best.feature[0];
    for (int j = 0; j < x.code.n; j++) {
      const CodedColumn& column = x.code.all->columns[x.code.places[j]];
      if (column.f != f) continue;
      if (check_gain) return take_any(coded_entries(column), out);
      return w.run.p.columns[f].nominal ? take_categories(column, out) : take_bits(column, out);
    }
    return SingleSplit::take(check_gain, out);
  }

 private:
  // Splits by a numeric test of a coded column.
  bool take_bits(const CodedColumn& column, NodeSplit<BitCode>& out) {
    const u32 words = x.code.all->words, missing = table.columns[column.f].missing_rank;
    const u64 key = best.key[0], phase = phase_of(key);
    u64 *left = x.code.all->no_rows(w, 1), *right = x.code.all->no_rows(w, 1);
    u32 above = 0;  // the next value of the node
    bool any_missing = false;
    for (u32 v = column.n_values; v-- > 0;) {
      const u64* bits = column.rows + v * words;
      u64* side = goes_left(column.rank[v], key, missing) ? left : right;
      u64 any = 0;
      for (u32 k = 0; k < words; k++) {
        any |= bits[k] & x.code.rows[k];
        side[k] |= bits[k] & x.code.rows[k];
      }
      if (any && column.rank[v] == missing) any_missing = true;
      else if (any && side == right) above = column.rank[v];
    }
    const SingleRows node_rows{x.n, nullptr, table};
    take_numeric(w, node_rows, *x.node, column.f, phase, best.n_left[0], best.left, cut_of(key),
                 above);
    if (any_missing && phase != kPresence) x.node->missing = phase != kMissingLeft;
    const auto n_left = static_cast<u32>(best.n_left[0]);
    out = {2, w.scratch.take<Branch<BitCode>>(2), x.node->children};
    out.branch[0] = {n_left, nullptr, {left, x.code.all}};
    out.branch[1] = {x.n - n_left, nullptr, {right, x.code.all}};
    return true;
  }
  // Splits by a nominal test of a coded column.
  bool take_categories(const CodedColumn& column, NodeSplit<BitCode>& out) {
    const BitRows& bits = *x.code.all;
    const u32 words = bits.words;
    const u32 V = table.columns[column.f].n_ranks;
    const u32 K = static_cast<u32>(w.run.K());
    double* sums = w.scratch.take<double>(V * K);
    i64* count = w.scratch.take<i64>(V);
    std::fill_n(sums, V * K, 0.0);
    std::fill_n(count, V, i64{0});
    for (u32 v = 0; v < column.n_values; v++)
      for (u32 c = 0, r = column.rank[v]; c < K; c++) {
        u32 n = 0;
        for (u32 k = 0; k < words; k++)
          n +=
              count_bits(column.rows[v * words + k] & x.code.rows[k] & bits.classes[c * words + k]);
        sums[r * K + c] = n;
        count[r] += n;
      }
    const SingleRows node_rows{x.n, nullptr, table};
    Forking<SingleRows> forking(w, bundle, node_rows, best);
    forking.take_nominal(0, V, sums, count);
    const Test& test = forking.tests[0];
    const auto n = static_cast<u32>(test.n_branches);
    out = {0, w.scratch.take<Branch<BitCode>>(n), x.node->children};
    for (u32 b = 0; b < n; b++) {  // the node has only the branches with rows
      Branch<BitCode>& branch = out.branch[out.n];
      u64* to = nullptr;
      branch = {0, nullptr, {nullptr, x.code.all}};
      for (u32 v = 0; v < column.n_values; v++) {
        const u32 r = column.rank[v];
        if (!count[r] || test.branch(r) != static_cast<int>(b)) continue;
        if (!to) branch.rows.bits = to = bits.no_rows(w, 1);
        for (u32 k = 0; k < words; k++) to[k] |= column.rows[v * words + k] & x.code.rows[k];
        branch.n += static_cast<u32>(count[r]);
      }
      out.n += to != nullptr;
    }
    return true;
  }
  const u32* coded_entries(const CodedColumn& column) {
    u32 *entries = w.scratch.take<u32>(x.n), n = 0;
    for (u32 v = 0; v < column.n_values; v++)
      for (u32 k = 0; k < x.code.all->words; k++) {
        const u64 node_rows = column.rows[v * x.code.all->words + k] & x.code.rows[k];
        each_bit_of(&node_rows, 1, [&](u32 b) {
          entries[n++] = static_cast<u32>(column.rank[v]) << 16 | x.code.all->row[k * 64 + b];
        });
      }
    return entries;
  }
};

// Renumbers the bits of a node so that they are only its own rows. Lists of columns that have few
// values by now become bits.
inline SingleNode<BitCode> recoded(Worker& w, const LocalTable& table,
                                   const SingleNode<BitCode>& node) {
  const Problem& p = w.run.p;
  const u32 n = node.n;
  const int n_coded = node.code.n;
  const int n_columns = node.n_columns;
  const BitRows* bits = node.code.all;
  BitRows* to = BitRows::empty(w, table, n, n_coded + n_columns);
  SingleNode<BitCode> x = SingleNode<BitCode>::empty(w, node.node, n, node.set, BitCode{to},
                                                     n_columns, n_coded + n_columns);
  x.code.rows = to->no_rows(w, 1);
  u32 i = 0;
  each_bit_of(node.code.rows, bits->words, [&](u32 b) {
    to->set(x.code.rows, 0, i);
    to->number(table, p, i++, bits->row[b]);
  });
  u64* one = to->no_rows(w, 1);
  u16* code = w.scratch.take<u16>(table.n);  // [rank]
  for (int j = 0; j < n_coded; j++) {
    const CodedColumn& from = bits->columns[node.code.places[j]];
    CodedColumn& column = to->add_column(w, from.f, from.n_values);
    if (from.n_values * bits->words > n) {  // row by row
      const u16* rank = table.columns[from.f].rank;
      for (u32 v = 0; v < from.n_values; v++) code[from.rank[v]] = 0;
      for (i = 0; i < n; i++) code[rank[to->row[i]]] = 1;
      for (u32 v = 0; v < from.n_values; v++)
        if (const u32 r = from.rank[v]; code[r]) {
          code[r] = static_cast<u16>(column.n_values);
          column.rank[column.n_values++] = static_cast<u16>(r);
        }
      for (i = 0; i < n; i++) to->set(column.rows, code[rank[to->row[i]]], i);
      continue;
    }
    for (u32 v = 0; v < from.n_values; v++) {
      if (!pack_words(from.rows + v * bits->words, node.code.rows, bits->words, one)) continue;
      std::copy_n(one, to->words, column.rows + column.n_values * to->words);
      column.rank[column.n_values++] = from.rank[v];
    }
  }
  for (int j = 0; j < n_columns; j++) {
    const u32* list = node.lists[j];
    const u32 n_distinct = n_values(list, n);
    if (!LocalColumn::coding_pays(w.run, n_distinct, n)) {
      x.columns[x.n_columns] = node.columns[j];
      x.lists[x.n_columns++] = node.lists[j];
      continue;
    }
    CodedColumn& column = to->add_column(w, node.columns[j], n_distinct);
    for (u32 k = 0; k < n; k++) {
      if (!k || list[k] >> 16 != list[k - 1] >> 16)
        column.rank[column.n_values++] = static_cast<u16>(list[k] >> 16);
      to->set(column.rows, column.n_values - 1, to->bit[list[k] & kRowMask]);
    }
  }
  for (; x.code.n < to->n_columns; x.code.n++) x.code.places[x.code.n] = static_cast<u16>(x.code.n);
  return x;
}

}  // namespace crosscut::CROSSCUT_LEVEL

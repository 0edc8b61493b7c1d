// A lone task takes the test that was found for its node: where its rows go.
#pragma once
#include "grow/large/fork.hpp"
#include "lone_node.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Rows of a node: entries, or bits.
struct Branch {
  u32 n;
  const u32* entries;
  const u64* rows;
  const BitRows* bits;
  template <class F>
  CC_INLINE void each(F f) const {
    if (bits) return each_bit_of(rows, bits->words, [&](u32 b) { f(u32{bits->row[b]}); });
    const u32* const from = entries;  // bytes that f writes might be these members
    for (u32 i = 0, end = n; i < end; i++) f(from[i] & kRowMask);
  }
};

// Where the rows go.
struct Parting {
  u32 n;
  Branch* branch;
  Node* child;
};

class LoneTest {
  Worker& w;
  const LocalTable& table;
  const Bundle& bundle;
  const LoneNode& x;
  const Best& best;

 public:
  LoneTest(Worker& worker, const LocalTable& t, const Bundle& of, const LoneNode& node, const Best& found)
      : w(worker), table(t), bundle(of), x(node), best(found) {}

  // judged: its gain may be too small. False if the node stays a leaf.
  bool take(bool judged, Parting& out) {
    const int f = best.feature[0];
    const bool nominal = w.run.p.columns[f].nominal;
    for (int j = 0; j < x.n_coded; j++) {
      if (x.values) {
        if (x.values->f[x.coded[j]] != f) continue;
        return judged || (nominal && w.run.p.multiway) ? take_any(value_entries(f), judged, out) : take_value(f, x.coded[j], out);
      }
      const CodedColumn& column = x.bits->columns[x.coded[j]];
      if (column.f != f) continue;
      if (judged) return take_any(coded_entries(column), judged, out);
      return nominal ? take_categories(column, out) : take_bits(column, out);
    }
    int j = 0;
    while (x.columns[j] != f) j++;
    return nominal || judged ? take_any(x.lists[j], judged, out) : take_list(f, x.lists[j], out);
  }

 private:
  bool take_list(int f, const u32* list, Parting& out) {
    const u64 phase = phase_of(best.key[0]);
    const u32 missing = table.columns[f].missing_rank;
    u32 present = x.n;
    while (list[present - 1] >> 16 == missing) present--;
    const u32 n_left = static_cast<u32>(best.n_left[0]), cut = phase == kMissingLeft ? n_left - (x.n - present) : n_left;
    take_numeric(w, LoneRows{x.n, list, table}, *x.node, f, phase, best.n_left[0], best.left, list[cut - 1] >> 16, list[cut] >> 16);
    if (present < x.n && phase != kPresence) x.node->missing = phase != kMissingLeft;
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(3);
    std::copy_n(list, x.n, entries);
    if (phase == kMissingLeft) std::copy(list + present, list + x.n, entries + cut), std::copy(list + cut, list + present, entries + n_left);
    start[0] = 0, start[1] = n_left, start[2] = x.n;
    return part_into(2, entries, start, out);
  }
  // A test of a column with sums by value.
  bool take_value(int f, u32 column, Parting& out) {
    const u32 V = x.values->n_values(column), missing = table.columns[f].missing_rank;
    const ValueSum* sums = x.sums + x.values->first[column];
    const LoneRows own{x.n, x.entries, table};
    u8 left[256];  // by rank
    if (w.run.p.columns[f].nominal) {
      i64* count = w.scratch.take<i64>(V);
      for (u32 v = 0; v < V; v++) count[v] = static_cast<i64>(sums[v][1]);
      Forking<LoneRows> forking(w, bundle, own, best);
      forking.take_nominal(0, V, reinterpret_cast<const double*>(sums), count);
      for (u32 v = 0; v < V; v++) left[v] = !forking.tests[0].branch(v);
    } else {
      const u64 key = best.key[0], phase = phase_of(key);
      u32 above = cut_of(key) + 1;
      while (phase != kPresence && !(sums[above][1] > 0)) above++;
      take_numeric(w, own, *x.node, f, phase, best.n_left[0], best.left, cut_of(key), above);
      if (missing != ~u32{0} && sums[missing][1] > 0 && phase != kPresence) x.node->missing = phase != kMissingLeft;
      for (u32 v = 0; v < V; v++) left[v] = goes_left(v, key, missing);
    }
    const u16* rank = table.columns[f].rank;
    const auto n_left = static_cast<u32>(x.node->children[0].n_rows);
    u32 *entries[2] = {w.scratch.take<u32>(x.n - n_left + 1), w.scratch.take<u32>(n_left + 1)}, n[2] = {};
    for (u32 i = 0; i < x.n; i++) {
      const u32 e = x.entries[i], side = left[rank[e & kRowMask]];
      entries[0][n[0]] = entries[1][n[1]] = e;
      n[0] += !side, n[1] += side;
    }
    out = {2, w.scratch.take<Branch>(2), x.node->children};
    for (u32 b = 0; b < 2; b++) out.branch[b] = {n[1 - b], entries[1 - b], nullptr, nullptr};
    return true;
  }
  const u32* value_entries(int f) {
    const u16* rank = table.columns[f].rank;
    u32* entries = w.scratch.take<u32>(x.n);
    for (u32 i = 0; i < x.n; i++) entries[i] = u32{rank[x.entries[i] & kRowMask]} << 16 | (x.entries[i] & kRowMask);
    return entries;
  }
  // The entries of all branches, one after the other.
  bool part_into(u32 n, const u32* entries, const u32* start, Parting& out) {
    out = {n, w.scratch.take<Branch>(n), x.node->children};
    const u32 words = x.bits ? x.bits->words : 0;
    u64* bits = x.bits ? x.bits->no_rows(w, n) : nullptr;
    u32 largest = 0;
    for (u32 b = 0; b < n; b++) {
      out.branch[b] = {start[b + 1] - start[b], entries + start[b], bits + b * words, x.bits};
      if (out.branch[b].n > out.branch[largest].n) largest = b;
    }
    if (!x.bits) return true;
    u64* rest = bits + largest * words;  // what the others leave
    std::copy_n(x.rows, words, rest);
    for (u32 b = 0; b < n; b++) {
      if (b == largest) continue;
      for (u32 i = start[b]; i < start[b + 1]; i++) x.bits->set(bits, b, x.bits->bit[entries[i] & kRowMask]);
      for (u32 k = 0; k < words; k++) rest[k] &= ~bits[b * words + k];
    }
    return true;
  }
  // A numeric test of a coded column.
  bool take_bits(const CodedColumn& column, Parting& out) {
    const u32 words = x.bits->words, missing = table.columns[column.f].missing_rank;
    const u64 key = best.key[0], phase = phase_of(key);
    u64 *left = x.bits->no_rows(w, 1), *right = x.bits->no_rows(w, 1);
    u32 above = 0;  // the node's next value
    bool any_missing = false;
    for (u32 v = column.n_values; v-- > 0;) {
      const u64* bits = column.rows + v * words;
      u64* side = goes_left(column.rank[v], key, missing) ? left : right;
      u64 any = 0;
      for (u32 k = 0; k < words; k++) any |= bits[k] & x.rows[k], side[k] |= bits[k] & x.rows[k];
      if (any && column.rank[v] == missing) any_missing = true;
      else if (any && side == right) above = column.rank[v];
    }
    const LoneRows own{x.n, nullptr, table};
    take_numeric(w, own, *x.node, column.f, phase, best.n_left[0], best.left, cut_of(key), above);
    if (any_missing && phase != kPresence) x.node->missing = phase != kMissingLeft;
    const auto n_left = static_cast<u32>(best.n_left[0]);
    out = {2, w.scratch.take<Branch>(2), x.node->children};
    out.branch[0] = {n_left, nullptr, left, x.bits}, out.branch[1] = {x.n - n_left, nullptr, right, x.bits};
    return true;
  }
  // A nominal test of a coded column.
  bool take_categories(const CodedColumn& column, Parting& out) {
    const BitRows& bits = *x.bits;
    const u32 words = bits.words, V = table.columns[column.f].n_ranks, K = static_cast<u32>(w.run.K());
    double* sums = w.scratch.take<double>(V * K);
    i64* count = w.scratch.take<i64>(V);
    std::fill_n(sums, V * K, 0.0), std::fill_n(count, V, i64{0});
    for (u32 v = 0; v < column.n_values; v++)
      for (u32 c = 0, r = column.rank[v]; c < K; c++) {
        u32 n = 0;
        for (u32 k = 0; k < words; k++) n += count_bits(column.rows[v * words + k] & x.rows[k] & bits.classes[c * words + k]);
        sums[r * K + c] = n, count[r] += n;
      }
    const LoneRows own{x.n, nullptr, table};
    Forking<LoneRows> forking(w, bundle, own, best);
    forking.take_nominal(0, V, sums, count);
    const Test& test = forking.tests[0];
    const auto n = static_cast<u32>(test.n_branches);
    out = {0, w.scratch.take<Branch>(n), x.node->children};
    for (u32 b = 0; b < n; b++) {  // those that have rows are the node's
      Branch& branch = out.branch[out.n];
      u64* to = nullptr;
      branch = {0, nullptr, nullptr, x.bits};
      for (u32 v = 0; v < column.n_values; v++) {
        const u32 r = column.rank[v];
        if (!count[r] || test.branch(r) != static_cast<int>(b)) continue;
        if (!to) branch.rows = to = bits.no_rows(w, 1);
        for (u32 k = 0; k < words; k++) to[k] |= column.rows[v * words + k] & x.rows[k];
        branch.n += static_cast<u32>(count[r]);
      }
      out.n += to != nullptr;
    }
    return true;
  }
  const u32* coded_entries(const CodedColumn& column) {
    u32 *entries = w.scratch.take<u32>(x.n), n = 0;
    for (u32 v = 0; v < column.n_values; v++)
      for (u32 k = 0; k < x.bits->words; k++) {
        const u64 own = column.rows[v * x.bits->words + k] & x.rows[k];
        each_bit_of(&own, 1, [&](u32 b) { entries[n++] = static_cast<u32>(column.rank[v]) << 16 | x.bits->row[k * 64 + b]; });
      }
    return entries;
  }
  bool take_any(const u32* list, bool judged, Parting& out) {
    const LoneRows own{x.n, list, table};
    Forking<LoneRows> forking(w, bundle, own, best);
    if (table.product && !w.run.weighted && !judged) {  // nominal
      const u32 V = own.n_ranks(best.feature[0]);
      double* sums = w.scratch.take<double>(2 * V);
      i64* count = w.scratch.take<i64>(V);
      std::fill_n(sums, 2 * V, 0.0), std::fill_n(count, V, i64{0});
      for (u32 i = 0; i < x.n; i++) sums[2 * (list[i] >> 16)] += table.product[own.at(i)], count[list[i] >> 16]++;
      for (u32 v = 0; v < V; v++) sums[2 * v + 1] = static_cast<double>(count[v]);
      forking.take_nominal(0, V, sums, count);
    } else {
      forking.take_tests();
    }
    if (forking.leaves) return false;
    const Test& test = forking.tests[0];
    const auto n = static_cast<u32>(test.n_branches);
    u32 *entries = w.scratch.take<u32>(x.n), *start = w.scratch.take<u32>(n + 2);
    std::fill_n(start, n + 2, 0u);
    for (u32 i = 0; i < x.n; i++) start[test.branch(list[i] >> 16) + 2]++;
    for (u32 b = 0; b < n; b++) start[b + 2] += start[b + 1];
    for (u32 i = 0; i < x.n; i++) entries[start[test.branch(list[i] >> 16) + 1]++] = list[i];
    u32 kept = 0;  // branches that have rows: those of the node
    for (u32 b = 0; b < n; b++)
      if (start[b] < start[b + 1]) start[kept++] = start[b];
    start[kept] = x.n;
    return part_into(kept, entries, start, out);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

// Regression, every row counting once: columns with few values need no lists. A node has the sums of its rows by value; those of its largest
// child are what the others leave.
#pragma once
#include "local_table.hpp"

namespace crosscut::CROSSCUT_LEVEL {

using ValueSum = Vec<double, 2>;  // P, W

// The columns of a local table that have few values.
struct ValueColumns {
  int n = 0;
  int* f;
  u32* first;   // [n + 1] places of their first values among those of all
  u16* places;  // [row][n] of its values
  const double* product;
  ValueSum* all;  // the sums of all rows

  // In a node of n rows. Measured with AVX2: a value takes about half as long as a row in a list, and a row of the smaller child a quarter.
  static bool pays(u32 values, u32 n) { return values <= n; }
  static const ValueColumns* of(Worker& w, const LocalTable& table) {
    if (w.run.p.n_classes) return nullptr;
    ValueColumns* out = w.scratch.take<ValueColumns>(1);
    const auto most = static_cast<std::size_t>(table.n_varying);
    *out = {0, w.scratch.take<int>(most), w.scratch.take<u32>(most + 1), nullptr, table.product, nullptr};
    out->first[0] = 0;
    for (int j = 0; j < table.n_varying; j++) {
      const LocalColumn& column = table.columns[table.varying[j]];
      if (column.coded) out->f[out->n++] = table.varying[j], out->first[out->n] = out->first[out->n - 1] + column.n_ranks;
    }
    if (!out->n) return nullptr;
    out->places = w.scratch.take<u16>(table.n * static_cast<std::size_t>(out->n));
    out->all = out->new_sums(w);
    std::fill_n(out->all, out->first[out->n], ValueSum{});
    for (int j = 0; j < out->n; j++) {
      const u16* rank = table.columns[out->f[j]].rank;
      for (u32 i = 0; i < table.n; i++) {
        const u32 place = out->first[j] + rank[i];
        out->places[i * static_cast<u32>(out->n) + static_cast<u32>(j)] = static_cast<u16>(place);
        out->all[place] += ValueSum{table.product[i], 1};
      }
    }
    return out;
  }
  ValueSum* new_sums(Worker& w) const { return w.scratch.take<ValueSum>(first[n] + kDoubles - 1); }  // a scan may read behind the end
  u32 n_values(u32 column) const { return first[column + 1] - first[column]; }
  CC_INLINE u16 place(u32 entry, u32 column) const { return places[(entry & kRowMask) * static_cast<u32>(n) + column]; }

  // Adds rows, `times` 1 or −1, to the sums of some columns.
  void add(const u32* entries, u32 n_rows, double times, const u16* columns, int n_columns, ValueSum* to) const {
    for (u32 i = 0; i < n_rows; i++) {
      const u16* own = places + (entries[i] & kRowMask) * static_cast<u32>(n);
      const ValueSum sum = {times * product[entries[i] & kRowMask], times};
      for (int j = 0; j < n_columns; j++) to[own[columns[j]]] += sum;
    }
  }
  void clear(const u16* columns, int n_columns, ValueSum* sums) const {
    for (int j = 0; j < n_columns; j++) std::fill(sums + first[columns[j]], sums + first[columns[j] + 1], ValueSum{});
  }
  void subtract(const ValueSum* from, const u16* columns, int n_columns, ValueSum* sums) const {
    for (int j = 0; j < n_columns; j++)
      for (u32 v = first[columns[j]]; v < first[columns[j] + 1]; v++) sums[v] -= from[v];
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

// Three or four rows can be parted in three or seven ways, whatever the columns are: each is rated once, and columns are only asked which ways
// they offer. A way is the set of rows that go left, bit by bit; so are sets of ways.
#pragma once
#include "few_targets.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// What a branch of up to four rows adds to Gini's quality, by Σ of squared counts of classes (Judge::branch).
constexpr auto kSquares = [] {
  std::array<std::array<double, 17>, 5> q{};
  for (u32 n = 1; n < 5; n++)
    for (u32 squares = 0; squares < 17; squares++) q[n][squares] = static_cast<double>(squares) / n;
  return q;
}();

template <u32 N>
struct Ways {
  static constexpr u32 kAll = (1u << N) - 1;
  u32 row[N];            // of the local table
  FewSet set[N];         // of one row each
  double q[kAll / 2 + 1];  // quality, of a way and its opposite: of that which has not the last row

  Ways(FewSet own, const u16* rows) {
    for (u32 i = 0; i < N; i++, own &= own - 1) row[i] = rows[lowest_row(own)], set[i] = own & -own;
  }

  void rate_classes(const LocalTable& table) {
    u32 squares[kAll + 1] = {};
    for (u32 i = 0, k = 1; i < N; i++, k *= 2) {
      u32 alike = 0;
      for (u32 j = 0; j < i; j++) alike |= static_cast<u32>(table.tag[row[j]] >> 12 == table.tag[row[i]] >> 12) << j;
      for (u32 s = 0; s < k; s++) squares[k + s] = squares[s] + 1 + 2 * count_bits(s & alike);
    }
    for (u32 way = 1; way <= kAll / 2; way++) q[way] = kSquares[count_bits(way)][squares[way]] + kSquares[N - count_bits(way)][squares[kAll ^ way]];
  }
  void rate_sums(const LocalTable& table, double total) {
    double sums[kAll / 2 + 1] = {};
    for (u32 i = 0, k = 1; i + 1 < N; i++, k *= 2)
      for (u32 s = 0; s < k; s++) sums[k + s] = sums[s] + table.product[row[i]];
    for (u32 way = 1; way <= kAll / 2; way++) {
      const double p = sums[way], rest = total - p;
      q[way] = p * p * kShare[count_bits(way)] + rest * rest * kShare[N - count_bits(way)];
    }
  }
  double quality(u32 way) const { return q[std::min(way, kAll ^ way)]; }
  static constexpr u32 both(u32 way) { return 1u << way | 1u << (kAll ^ way); }
  template <class F>
  CC_INLINE u32 those(F f) const {
    u32 found = 0;
    for (u32 way = 1; way <= kAll / 2; way++) found |= f(way) ? both(way) : 0;
    return found;
  }

  FewSet rows(u32 way) const {
    FewSet s = 0;
    for (u32 i = 0; i < N; i++) s |= way >> i & 1 ? set[i] : 0;
    return s;
  }
  u32 way(FewSet rows) const {
    u32 found = 0;
    for (u32 i = 0; i < N; i++) found |= static_cast<u32>((rows & set[i]) != 0) << i;
    return found;
  }

  // Those that a column offers by its ranks: of every row, the rows that come no later; so that all rows are one of them.
  CC_INLINE u32 offered(const u16* rank) const {
    constexpr u64 kEach = 0x0001'0001'0001'0001, kSigns = kEach << 15;
    u64 all_ranks = 0;
    for (u32 i = 0; i < N; i++) all_ranks |= u64{rank[row[i]]} << 16 * i;
    u32 found = 0;
    for (u32 i = 0; i < N; i++) {
      const u64 no_later = ((u64{rank[row[i]]} * kEach | kSigns) - all_ranks) & kSigns;
      found |= 1u << (((no_later >> 15) * 0x0001'0002'0004'0008) >> 48 & kAll);  // the four bits side by side
    }
    return found;
  }
  // The ranks next to the cut of a way that a numeric column offers.
  std::pair<u32, u32> sides(const u16* rank, u32 way) const {
    u32 below = 0, above = ~0u;
    for (u32 i = 0; i < N; i++) {
      if (way >> i & 1) below = std::max(below, u32{rank[row[i]]});
      else above = std::min(above, u32{rank[row[i]]});
    }
    return {below, above};
  }
  // The rows by a key, ties by rank.
  template <class Key>
  void sort(const u16* rank, Key key, u32 (&order)[N]) const {
    for (u32 i = 0; i < N; i++) {
      u32 at = i;
      const auto later = [&](u32 j) { return key(row[j]) != key(row[i]) ? key(row[j]) > key(row[i]) : rank[row[j]] > rank[row[i]]; };
      for (; at && later(order[at - 1]); at--) order[at] = order[at - 1];
      order[at] = i;
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

// Sorts rows by rank: insertion sort for up to 48 keys, otherwise radix sort in one to three
// passes.
#pragma once
#include "lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct SortKey {
  u64 v;
  bool operator<(const SortKey& o) const { return v < o.v; }
};
struct ListKey {
  u32 v;
  bool operator<(const ListKey& o) const { return v < o.v; }
};

template <class T> inline void insertion_sort(T* a, u32 n) {
  for (u32 i = 1; i < n; i++) {
    const T x = a[i];
    u32 j = i;
    for (; j > 0 && x < a[j - 1]; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

// Sorts keys (rank << kRowBits | row) by rank. Rows ascend on entry and keep their order within a
// rank. Returns the buffer that has the result, `a` or `b`.
template <int kRowBits, class Key> Key* sort_keys(Key* a, Key* b, u32 n, u32 range) {
  if (n <= 48) {
    insertion_sort(a, n);
    return a;
  }
  const int bits = 32 - __builtin_clz(range | 1);
  const int digit = bits <= 11 ? bits : bits <= 22 ? (bits + 1) / 2 : (bits + 2) / 3;
  u32 count[1 << 11];
  for (int shift = kRowBits; shift < kRowBits + bits; shift += digit) {
    const u32 buckets = 1u << digit;
    for (u32 d = 0; d < buckets; d++) count[d] = 0;
    for (u32 i = 0; i < n; i++) count[a[i].v >> shift & (buckets - 1)]++;
    for (u32 d = 0, sum = 0; d < buckets; d++) {
      sum += count[d];
      count[d] = sum - count[d];
    }
    for (u32 i = 0; i < n; i++) b[count[a[i].v >> shift & (buckets - 1)]++] = a[i];
    Key* t = a;
    a = b;
    b = t;
  }
  return a;
}

}  // namespace crosscut::CROSSCUT_LEVEL

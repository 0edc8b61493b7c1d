// Floats as integer keys, and their least-significant-digit radix sort.
//
// A float's bits, with the sign bit flipped (all bits if negative), order like the float. NaN gets the highest key,
// so missing values come last. -0.0 becomes 0.0 first.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "../huge_pages.hpp"

namespace crosscut {

constexpr std::uint32_t missing_key = 0xFFFFFFFFu;
constexpr std::uint32_t plus_infinity_key = 0xFF800000u, minus_infinity_key = 0x007FFFFFu;

inline std::uint32_t key_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x + 0.0f);
  const std::uint32_t key = bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000u);
  return x == x ? key : missing_key;
}

inline float value_of(std::uint32_t key) {
  return std::bit_cast<float>(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

struct Scratch {
  explicit Scratch(std::size_t n, std::size_t n_values)
      : a(new std::uint64_t[n]), b(new std::uint64_t[n]), end(new std::uint32_t[n + 1]), values(new float[n_values]) {
    for (const auto& sorted : {a.get(), b.get()}) invite_huge_pages(sorted, n * sizeof(std::uint64_t));
    invite_huge_pages(end.get(), n * sizeof(std::uint32_t));
  }
  std::unique_ptr<std::uint64_t[]> a, b;   // what is sorted: pairs, or keys in the first half
  std::unique_ptr<std::uint32_t[]> end;    // rows up to and including each rank
  std::unique_ptr<float[]> values;         // of each rank, where only bins are kept
};

// What is sorted: a key with its row, or a key alone, which takes half the memory.
struct Pair {
  std::uint32_t row, key;
  static Pair of(std::uint32_t key, std::size_t row) { return {static_cast<std::uint32_t>(row), key}; }
};
struct Key {
  std::uint32_t key;
  static Key of(std::uint32_t key, std::size_t) { return {key}; }
};

// Sorts by `Passes` digits of `Bits` bits. Their counts do not change between passes, so all are counted at once.
template <unsigned Bits, unsigned Passes, class Item>
const Item* sort_by_digits(const std::uint32_t* keys, std::size_t n, Item* from, Item* to) {
  constexpr std::uint32_t digit = (1u << Bits) - 1;
  std::array<std::array<std::uint32_t, digit + 1>, Passes> at{};
  for (std::size_t i = 0; i < n; i++)
    for (unsigned p = 0; p < Passes; p++) at[p][keys[i] >> (p * Bits) & digit]++;
  bool filled = false;
  for (unsigned p = 0; p < Passes; p++) {
    if (at[p][keys[0] >> (p * Bits) & digit] == n) continue;  // all keys share this digit
    std::uint32_t sum = 0;
    for (std::uint32_t& count : at[p]) sum += std::exchange(count, sum);
    if (filled) {
      for (std::size_t i = 0; i < n; i++) to[at[p][from[i].key >> (p * Bits) & digit]++] = from[i];
    } else {
      for (std::size_t i = 0; i < n; i++) to[at[p][keys[i] >> (p * Bits) & digit]++] = Item::of(keys[i], i);
    }
    filled = true;
    std::swap(from, to);
  }
  if (!filled)
    for (std::size_t i = 0; i < n; i++) from[i] = Item::of(keys[i], i);
  return from;
}

// Wide digits need fewer passes. But few rows do not fill their buckets, and with many rows the buckets do not fit in
// the cache.
template <class Item>
const Item* sorted_items(const std::uint32_t* keys, std::size_t n, Scratch& scratch) {
  const bool wide = n >= (1u << 13) && n < (1u << 18);
  Item *a = reinterpret_cast<Item*>(scratch.a.get()), *b = reinterpret_cast<Item*>(scratch.b.get());
  return wide ? sort_by_digits<11, 3>(keys, n, a, b) : sort_by_digits<8, 4>(keys, n, a, b);
}

}  // namespace crosscut

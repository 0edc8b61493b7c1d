// Floats as integer keys, and their least-significant-digit radix sort.
//
// The bits of a float, with the sign bit flipped (all bits if it is negative), sort like the float.
// NaN gets the highest key, so missing values come last. -0.0 is first converted to 0.0.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"
#include "base/waiting.hpp"

namespace crosscut {

constexpr std::uint32_t missing_key = 0xFFFFFFFFu;
constexpr std::uint32_t plus_infinity_key = 0xFF800000u, minus_infinity_key = 0x007FFFFFu;

inline std::uint32_t key_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x + 0.0f);
  const std::uint32_t key =
      bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000u);
  return x == x ? key : missing_key;
}

inline float value_of(std::uint32_t key) {
  return std::bit_cast<float>(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// The thread that ranks a column, and the idle threads that it can share work with.
struct Ranking {
  IdleThreads& threads;
  int thread;

  std::size_t n_parts(std::size_t n) const {
    constexpr std::size_t least = 1u << 15;  // fewest items for which another thread saves time
    const auto idle = static_cast<std::size_t>(threads.n_idle());
    return idle ? std::clamp<std::size_t>(n / least, 1, 2 * (idle + 1)) : 1;
  }
  // Calls body(part, begin, end) for parts of 0..n.
  template <class Body> void share(std::size_t n, std::size_t n_parts, const Body& body) const {
    threads.share(thread, static_cast<int>(n_parts), [&](int, Parts& parts) {
      for (int i; (i = parts.take()) >= 0;) {
        const auto part = static_cast<std::size_t>(i);
        body(part, n * part / n_parts, n * (part + 1) / n_parts);
      }
    });
  }
};

struct Scratch {
  explicit Scratch(std::size_t n, std::size_t n_values)
      : a(new_array<std::uint64_t>(n)),
        b(new_array<std::uint64_t>(n)),
        end(new_array<std::uint32_t>(n + 1)),
        values(new_array<float>(n_values)) {}
  std::unique_ptr<std::uint64_t[]> a, b;  // items to sort: pairs, or keys in the first half
  std::unique_ptr<std::uint32_t[]> end;   // number of rows up to and including each rank
  std::unique_ptr<float[]> values;        // value of each rank, if only bins are kept
};

// Items to sort: a key with its row, or a key alone, which takes half the memory.
struct Pair {
  std::uint32_t row, key;
  static Pair of(std::uint32_t key, std::size_t row) {
    return {static_cast<std::uint32_t>(row), key};
  }
};
struct Key {
  std::uint32_t key;
  static Key of(std::uint32_t key, std::size_t) { return {key}; }
};

// One pass of the sort by several threads: writes items in the order of one digit of their keys.
// next[d] is the place of the first item with digit d. Each thread counts the digits of its part,
// prefix sums give every part its places, then each thread writes its items there.
template <class Digits, class Get, class Item>
void place_in_parts(const Ranking& ranking, std::size_t n, std::size_t n_parts, const Get& get,
                    unsigned shift, Digits& next, Item* to) {
  const auto digit = [shift](const Item& item) {
    return item.key >> shift & (std::tuple_size_v<Digits> - 1);
  };
  std::vector<Digits> at(n_parts);  // per part: counts, then the place of the next item
  ranking.share(n, n_parts, [&](std::size_t part, std::size_t begin, std::size_t end) {
    Digits counts{};  // local: no cache line is shared with another thread
    for (std::size_t i = begin; i < end; i++) counts[digit(get(i))]++;
    at[part] = counts;
  });
  for (Digits& counts : at)
    for (std::size_t d = 0; d < counts.size(); d++) next[d] += std::exchange(counts[d], next[d]);
  ranking.share(n, n_parts, [&, to](std::size_t part, std::size_t begin, std::size_t end) {
    Digits places = at[part];
    for (std::size_t i = begin; i < end; i++) to[places[digit(get(i))]++] = get(i);
  });
}

// Sorts by `Passes` digits of `Bits` bits, the lowest first. The counts of a digit do not depend on
// the order of the items, so one loop counts all digits. A pass is skipped if all keys share its
// digit.
template <unsigned Bits, unsigned Passes, class Item>
const Item* sort_by_digits(const Ranking& ranking, const std::uint32_t* keys, std::size_t n,
                           Item* from, Item* to) {
  constexpr std::uint32_t digit = (1u << Bits) - 1;
  std::array<std::array<std::uint32_t, digit + 1>, Passes> at{};
  for (std::size_t i = 0; i < n; i++)
    for (unsigned p = 0; p < Passes; p++) at[p][keys[i] >> (p * Bits) & digit]++;
  bool filled = false;
  for (unsigned p = 0; p < Passes; p++) {
    if (at[p][keys[0] >> (p * Bits) & digit] == n) continue;  // nothing to do in this pass
    std::uint32_t sum = 0;
    for (std::uint32_t& count : at[p]) sum += std::exchange(count, sum);
    if (const std::size_t n_parts = ranking.n_parts(n); n_parts > 1) {
      if (filled)
        place_in_parts(
            ranking, n, n_parts, [from](std::size_t i) { return from[i]; }, p * Bits, at[p], to);
      else
        place_in_parts(
            ranking, n, n_parts, [keys](std::size_t i) { return Item::of(keys[i], i); }, p * Bits,
            at[p], to);
    } else if (filled) {
      for (std::size_t i = 0; i < n; i++) to[at[p][from[i].key >> (p * Bits) & digit]++] = from[i];
    } else {
      for (std::size_t i = 0; i < n; i++)
        to[at[p][keys[i] >> (p * Bits) & digit]++] = Item::of(keys[i], i);
    }
    filled = true;
    std::swap(from, to);
  }
  if (!filled)
    for (std::size_t i = 0; i < n; i++) from[i] = Item::of(keys[i], i);
  return from;
}

// Wide digits need fewer passes. But with few rows most buckets stay empty, and with many rows the
// buckets do not fit in the cache.
template <class Item>
const Item* sorted_items(const Ranking& ranking, const std::uint32_t* keys, std::size_t n,
                         Scratch& scratch) {
  const bool wide = n >= (1u << 13) && n < (1u << 18);
  Item *a = reinterpret_cast<Item*>(scratch.a.get()), *b = reinterpret_cast<Item*>(scratch.b.get());
  return wide ? sort_by_digits<11, 3>(ranking, keys, n, a, b)
              : sort_by_digits<8, 4>(ranking, keys, n, a, b);
}

}  // namespace crosscut

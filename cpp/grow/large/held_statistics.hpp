// The statistics of all columns of a large bundle in one allocation, so that they outlive it.
// If all tasks of a child bundle go on in a second one, only the second one is counted (of two with
// the same tasks, the smaller one). S(first) = S(parent) − S(second), lane by lane: the same
// integers, because a task's rows in a node are its rows in the two children. The statistics also
// tell which intervals have rows of a task (neighbours.hpp).
#pragma once
#include "grow/bundle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// statistics are kept for children while those of all bundles need at most this many bytes
constexpr std::size_t kHeldBytes = std::size_t{256} << 20;

// Lanes of the statistics. One is spare: the cell of rows that train every task.
inline int large_width(int lanes) { return lanes == 1 ? 1 : lanes <= 7 ? 8 : 16; }

inline int lanes_width(const Run& run, const Bundle& bundle) {
  return large_width(run.p.multiplicity ? kLanes : bundle.n);
}

inline u32 n_bins(const Column& c) { return (c.nominal ? c.n_values : c.n_coarse) + 1; }

inline std::size_t n_cells(const Run& run, int f) {
  return std::size_t{n_bins(run.p.columns[f])} * static_cast<std::size_t>(run.bin_parts());
}
// The bytes of column f. The errors of its bins' sums of squares come last.
inline std::size_t statistics_bytes(const Run& run, int f, int W) {
  const std::size_t size = run.counted ? sizeof(u32) : sizeof(double);
  const std::size_t errors = run.has_squares() ? n_bins(run.p.columns[f]) * sizeof(double) : 0;
  return (n_cells(run, f) * static_cast<std::size_t>(W) * size + errors + 127) & ~std::size_t{127};
}

// The statistics of all columns, one after the other.
struct ColumnStatistics {
  const Run& run;
  const char* memory;  // null: not held
  int W;

  const char* column(int f) const {
    const char* at = memory;
    for (int g = 0; g < f; g++) at += statistics_bytes(run, g, W);
    return at;
  }
  // Does lane k have rows in a bin of the column?
  bool has_rows(const char* column, u32 bin, int k) const {
    const int parts = run.bin_parts();
    const auto at = [&](int part) {
      return (std::size_t{bin} * static_cast<std::size_t>(parts) + static_cast<std::size_t>(part)) *
                 static_cast<std::size_t>(W) +
             static_cast<std::size_t>(k);
    };
    if (!run.counted) return reinterpret_cast<const double*>(column)[at(run.rows_part())] != 0;
    for (int c = 0; c < parts; c++)
      if (reinterpret_cast<const u32*>(column)[at(c)]) return true;
    return false;
  }
};

struct GiveBack {
  std::atomic<std::size_t>* held = nullptr;
  std::size_t bytes = 0;
  void operator()(char* memory) const {
    held->fetch_sub(bytes, std::memory_order_relaxed);
    Blocks::give_back(memory);
  }
};
using HeldStatistics = std::unique_ptr<char, GiveBack>;

// Null if there is no room.
inline HeldStatistics hold_statistics(Run& run, int W) {
  if (off(Acceleration::held_statistics)) return nullptr;
  std::size_t bytes = 0;
  for (int f = 0; f < run.p.n_features; f++) bytes += statistics_bytes(run, f, W);
  const GiveBack give_back{&run.held_bytes, bytes};
  char* memory = nullptr;
  if (run.held_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kHeldBytes)
    memory = static_cast<char*>(run.blocks.take(bytes));
  else run.held_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  return HeldStatistics(memory, give_back);
}

// Calls body.operator()<W>().
template <class Body> void with_width(int W, const Body& body) {
  if (W == 1) body.template operator()<1>();
  else if (W == 8) body.template operator()<8>();
  else body.template operator()<16>();
}

// The lanes of x that are set in `keep`, packed together.
template <class T, int W, int To> CC_INLINE Vec<T, To> packed_lanes(const Vec<T, W>& x, u32 keep) {
#if defined(__AVX512VL__)
  if constexpr (std::is_same_v<T, u32> && W == 16) {
    const __m512i packed = _mm512_maskz_compress_epi32(static_cast<__mmask16>(keep), (__m512i)x);
    if constexpr (To == 16) return (Vec<T, To>)packed;
    else if constexpr (To == 8) return (Vec<T, To>)_mm512_castsi512_si256(packed);
    else return static_cast<u32>(_mm_cvtsi128_si32(_mm512_castsi512_si128(packed)));
  }
  if constexpr (std::is_same_v<T, u32> && W == 8) {
    const __m256i packed = _mm256_maskz_compress_epi32(static_cast<__mmask8>(keep), (__m256i)x);
    if constexpr (To == 8) return (Vec<T, To>)packed;
    else return static_cast<u32>(_mm_cvtsi128_si32(_mm256_castsi256_si128(packed)));
  }
#endif
  Vec<T, To> packed{};
  int to = 0;
  each_bit(keep, [&](int k) { set_lane<T, To>(packed, to++, lane<T, W>(x, k)); });
  return packed;
}

// The lanes `keep` of n cells, packed together, are copied to `to` or subtracted from it. All lanes
// keep their places if `keep` is ~0.
template <bool kSubtract, class T>
void pack_cells(const void* from, int W, u32 keep, std::size_t n, void* to, int To) {
  with_width(W, [&]<int kW>() {
    with_width(To, [&]<int kTo>() {
      const auto* x = static_cast<const Vec<T, kW>*>(from);
      auto* y = static_cast<Vec<T, kTo>*>(to);
      const auto each = [&](const auto& packed) {
        for (std::size_t i = 0; i < n; i++)
          if constexpr (kSubtract) y[i] -= packed(x[i]);
          else y[i] = packed(x[i]);
      };
      if constexpr (kW == kTo) {
        if (keep == ~u32{0}) return each([](const auto& v) { return v; });
      }
      if constexpr (kTo <= kW)
        each([keep](const auto& v) { return packed_lanes<T, kW, kTo>(v, keep); });
    });
  });
}
template <bool kSubtract>
void pack_column(const Run& run, int f, const void* from, int W, u32 keep, void* to, int To) {
  const std::size_t n = n_cells(run, f);
  if (run.counted) return pack_cells<kSubtract, u32>(from, W, keep, n, to, To);
  pack_cells<kSubtract, double>(from, W, keep, n, to, To);
  if (!run.has_squares()) return;
  const double* errors = static_cast<const double*>(from) + n * static_cast<std::size_t>(W);
  double* of = static_cast<double*>(to) + n * static_cast<std::size_t>(To);
  for (u32 b = 0; b < n_bins(run.p.columns[f]); b++)
    of[b] = kSubtract ? of[b] + errors[b] : errors[b];  // those of both add up
}

}  // namespace crosscut::CROSSCUT_LEVEL

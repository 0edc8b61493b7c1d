// The parts of the coarse intervals of a column: at most kParts per interval, of equally many
// ranks. All bundles use the same parts (interval_search.hpp). Reading the ranks of rows that are
// anywhere in the table misses the cache; so once half as many ranks as there are rows have been
// read, the part of each row is stored in a byte. The fit of a million rows of noise took 18.6 s
// without this and takes 16.1.
#pragma once
#include <mutex>

#include "grow/blocks.hpp"
#include "grow/gap.hpp"
#include "grow/simd/lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kParts = 16;

class IntervalParts {
  std::mutex mutex_;
  u32* firsts_ = nullptr;
  u8* shift_ = nullptr;
  u8* of_rows_ = nullptr;
  u64 asked_ = 0;

 public:
  IntervalParts() = default;
  IntervalParts(const IntervalParts&) = delete;
  IntervalParts& operator=(const IntervalParts&) = delete;
  ~IntervalParts() {
    for (void* memory : {static_cast<void*>(firsts_), static_cast<void*>(of_rows_)})
      if (memory) Blocks::give_back(memory);
  }

  struct Known {
    const Column& column;
    const u32*
        firsts;       // [interval][kParts] first rank; that of the next interval if there are none
    const u8* shift;  // [interval] a part has 1 << shift ranks
    const u8* of_rows;  // [row of the table] part in its interval, or null

    CC_INLINE u32 part(u32 interval, u32 rank) const {
      u32 part = (rank - column.coarse_first[interval]) >> shift[interval];
      while (rank < firsts[interval * kParts + part]) part--;
      return part;
    }
  };
  // n: the number of rows whose part the caller needs.
  Known of(const Column& c, std::size_t n_rows, u32 n, Blocks& blocks) {
    const std::scoped_lock lock(mutex_);
    if (!firsts_) divide(c, blocks);
    Known known{c, firsts_, shift_, of_rows_};
    asked_ += n;
    if (!of_rows_ && 2 * asked_ > n_rows) {
      u8* parts = static_cast<u8*>(blocks.take(n_rows));
      for (std::size_t i = 0; i < n_rows; i++)
        parts[i] =
            c.coarse[i] < c.n_coarse ? static_cast<u8>(known.part(c.coarse[i], c.ranks[i])) : 0;
      known.of_rows = of_rows_ = parts;
    }
    return known;
  }

 private:
  void divide(const Column& c, Blocks& blocks) {
    const std::size_t n = c.n_coarse;
    firsts_ = static_cast<u32*>(blocks.take(n * (kParts * sizeof(u32) + 1)));
    shift_ = reinterpret_cast<u8*>(firsts_ + n * kParts);
    for (u32 b = 0; b < n; b++) {
      const u32 begin = c.coarse_first[b], end = c.coarse_first[b + 1];
      shift_[b] = 0;
      while ((end - begin - 1) >> shift_[b] >= kParts) shift_[b]++;
      for (u32 s = 0; s < kParts; s++) {
        u32 first = begin + (s << shift_[b]);  // no border between values that are too close
        while (s && first < end && !separable(c, first - 1, first)) first++;
        firsts_[b * kParts + s] = first < end ? first : end;
      }
    }
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

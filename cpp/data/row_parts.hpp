// A stable counting sort of rows by keys with few values. Each thread counts the rows of its part;
// prefix sums over keys and parts give their places; then each thread places its rows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/threads.hpp"

namespace crosscut {

constexpr std::int64_t kRowsPerThread = 1 << 16;  // with fewer, fewer threads are faster

class RowParts {
  using Counts = std::vector<std::int64_t>;
  std::size_t n_rows_;
  Team team_;
  // per part and key: number of rows, then the place of the next row
  std::vector<Counts> next_;

  template <class Body> void each_row(const Body& body) {
    team_.run(team_.size(), [&](int thread) {
      const std::size_t part = static_cast<std::size_t>(thread), n = next_.size();
      Counts next = next_[part];  // a copy: no cache line is shared with another thread
      for (std::size_t r = n_rows_ * part / n; r < n_rows_ * (part + 1) / n; r++) body(r, next);
      next_[part] = std::move(next);
    });
  }

 public:
  RowParts(std::size_t n_rows, std::size_t n_keys, int n_threads)
      : n_rows_(n_rows),
        team_(n_keys > static_cast<std::size_t>(kRowsPerThread)
                  ? 1
                  : static_cast<int>(std::min<std::int64_t>(
                        n_threads, static_cast<std::int64_t>(n_rows) / kRowsPerThread))),
        next_(static_cast<std::size_t>(team_.size()), Counts(n_keys)) {}

  template <class Key> void count(const Key& key) {
    each_row([&](std::size_t r, Counts& counts) { counts[key(r)]++; });
  }
  std::int64_t total(std::size_t key) const {
    std::int64_t sum = 0;
    for (const Counts& counts : next_) sum += counts[key];
    return sum;
  }
  // Assigns the places from `at` on to the rows of a key; returns the next free place.
  std::int64_t start(std::size_t key, std::int64_t at) {
    for (Counts& counts : next_) at += std::exchange(counts[key], at);
    return at;
  }
  // Calls put(row, place) for every row.
  template <class Key, class Put> void place(const Key& key, const Put& put) {
    each_row([&](std::size_t r, Counts& next) { put(r, next[key(r)]++); });
  }
};

}  // namespace crosscut

// A stable counting sort of rows by keys with few values, divided among threads: each counts, and
// then places, the rows of its part.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/threads.hpp"

namespace crosscut {

constexpr std::int64_t kRowsPerThread = 1 << 16;  // with fewer, threads cost more than they gain

class RowParts {
  using Counts = std::vector<std::int64_t>;
  std::size_t n_rows_;
  Team team_;
  // of each part, by key: how many rows, then where the next of them goes
  std::vector<Counts> next_;

  template <class Body>
  void each_row(const Body& body) {
    team_.run(team_.size(), [&](int me) {
      const std::size_t part = static_cast<std::size_t>(me), n = next_.size();
      Counts own = next_[part];  // a copy: not beside that of another thread in the cache
      for (std::size_t r = n_rows_ * part / n; r < n_rows_ * (part + 1) / n; r++) body(r, own);
      next_[part] = std::move(own);
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

  template <class Key>
  void count(const Key& key) {
    each_row([&](std::size_t r, Counts& own) { own[key(r)]++; });
  }
  std::int64_t total(std::size_t key) const {
    std::int64_t sum = 0;
    for (const Counts& own : next_) sum += own[key];
    return sum;
  }
  // The rows of a key go to the places from `at` on; returns the place after the last.
  std::int64_t start(std::size_t key, std::int64_t at) {
    for (Counts& own : next_) at += std::exchange(own[key], at);
    return at;
  }
  // Calls put(row, place) for every row.
  template <class Key, class Put>
  void place(const Key& key, const Put& put) {
    each_row([&](std::size_t r, Counts& own) { put(r, own[key(r)]++); });
  }
};

}  // namespace crosscut

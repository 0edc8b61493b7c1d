// Classes are numbered by a table over the range of the labels, without sorting. Stratified folds
// are dealt by position within a class, so a counting sort of the rows by class is all they need.
#include "classes.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "base/huge_pages.hpp"
#include "row_parts.hpp"

namespace crosscut {

bool code_classes(const std::int64_t* labels, std::size_t n, std::int64_t max_span,
                  std::vector<std::int64_t>& classes, std::int32_t* codes, int n_threads) {
  const auto share = [&](const auto& body) {
    parallel_for(static_cast<std::int64_t>(n), kRowsPerThread, n_threads, body);
  };
  std::int64_t low = labels[0], high = labels[0];
  std::mutex mutex;  // protects low and high
  share([&](std::int64_t begin, std::int64_t end) {
    std::int64_t lowest = labels[begin], highest = lowest;
    for (std::int64_t r = begin; r < end; r++) {
      lowest = std::min(lowest, labels[r]);
      highest = std::max(highest, labels[r]);
    }
    const std::scoped_lock lock(mutex);
    low = std::min(low, lowest);
    high = std::max(high, highest);
  });
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (span >= static_cast<std::uint64_t>(max_span)) return false;
  std::vector<std::int32_t> code(span + 1);  // first marks the classes that occur
  const auto place = [&](std::int64_t r) { return static_cast<std::size_t>(labels[r] - low); };
  share([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; r++) {
      const std::atomic_ref<std::int32_t> mark(code[place(r)]);
      // threads write a mark only once, so they can all keep it in their caches
      if (!mark.load(std::memory_order_relaxed)) mark.store(1, std::memory_order_relaxed);
    }
  });
  std::int32_t n_classes = 0;
  for (std::size_t c = 0; c <= span; c++)
    if (code[c]) {
      classes.push_back(low + static_cast<std::int64_t>(c));
      code[c] = n_classes++;
    }
  share([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; r++) codes[r] = code[place(r)];
  });
  return true;
}

std::vector<std::int64_t> deal_folds(const std::int32_t* codes, std::size_t n,
                                     std::size_t n_classes, std::int64_t n_folds,
                                     const Shuffle& shuffle, std::int64_t* folds, int n_threads) {
  const auto key = [&](std::size_t r) { return static_cast<std::size_t>(codes[r]); };
  RowParts parts(n, n_classes, n_threads);
  parts.count(key);
  std::vector<std::int64_t> counts(n_classes);
  for (std::size_t c = 0; c < n_classes; c++) counts[c] = parts.total(c);
  const std::unique_ptr<std::int64_t[]> dealt = new_array<std::int64_t>(n);
  std::vector<bool> begun(n_classes);
  std::int64_t end = 0;
  // classes in the order of their first rows
  for (std::size_t r = 0; end < static_cast<std::int64_t>(n); r++) {
    const std::size_t c = key(r);
    if (begun[c]) continue;
    begun[c] = true;
    const std::int64_t begin = std::exchange(end, parts.start(c, end));
    std::int64_t* part = dealt.get() + begin;
    // fold k gets the places k, k + n_folds, ... from begin to end
    for (std::int64_t k = 0; k < n_folds; k++) {
      const auto before = [&](std::int64_t place) { return (place - k + n_folds - 1) / n_folds; };
      part = std::fill_n(part, before(end) - before(begin), k);
    }
    if (shuffle) shuffle(dealt.get() + begin, static_cast<std::size_t>(end - begin));
  }
  parts.place(
      key, [&](std::size_t r, std::int64_t at) { folds[r] = dealt[static_cast<std::size_t>(at)]; });
  return counts;
}

}  // namespace crosscut

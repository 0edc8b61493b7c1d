// Coarse intervals of neighbouring ranks with about equal row counts.
//
// An equal share is the number of rows divided by the number of intervals. A rank with more than
// two equal shares is heavy and gets its own interval. Heavy ranks are fewer than half of the
// intervals, so each run of ranks between them can have an interval, too. Within a run, an interval
// ends where its row count is nearest to an equal share of the remaining light rows.
#include <algorithm>

#include "rank.hpp"

namespace crosscut {

std::size_t intervals(const std::uint32_t* end, std::size_t n, std::size_t max_intervals,
                      std::uint32_t* first) {
  if (n <= max_intervals) {
    for (std::size_t r = 0; r <= n; r++) first[r] = static_cast<std::uint32_t>(r);
    return n;
  }
  const auto below = [end](std::size_t r) {
    return static_cast<std::uint64_t>(r ? end[r - 1] : 0);
  };
  const std::uint64_t all = end[n - 1], two_shares = 2 * all / max_intervals;
  const auto heavy = [&](std::size_t r) { return end[r] - below(r) > two_shares; };
  std::uint32_t largest = end[0];
  for (std::size_t r = 1; r < n; r++) largest = std::max(largest, end[r] - end[r - 1]);
  std::size_t n_heavy = 0, runs = largest > two_shares ? 0 : 1;
  std::uint64_t left = all;
  bool in_run = false;
  for (std::size_t r = 0; r < n && largest > two_shares; r++) {
    const bool is_heavy = heavy(r);
    n_heavy += is_heavy;
    left -= is_heavy ? end[r] - below(r) : 0;
    runs += !is_heavy && !in_run;
    in_run = !is_heavy;
  }

  std::size_t count = 0, begin = 0, shares = max_intervals - n_heavy;
  while (begin < n) {
    if (heavy(begin)) {
      first[count++] = static_cast<std::uint32_t>(begin++);
      continue;
    }
    std::size_t run_end = n_heavy ? begin + 1 : n;
    while (run_end < n && !heavy(run_end)) run_end++;
    runs--;
    while (begin < run_end) {
      first[count++] = static_cast<std::uint32_t>(begin);
      // find the first rank of the next interval: by doubling steps, then by bisection
      const std::uint64_t most = 2 * left / shares, twice_below = 2 * below(begin);
      const auto too_many = [&](std::size_t r) { return below(r) + end[r] - twice_below > most; };
      std::size_t low = begin + 1, high = low, step = 1;
      if (shares == runs + 1) low = high = run_end;  // the following runs need the rest
      while (high < run_end && !too_many(high)) {
        low = high + 1;
        high = std::min(high + step, run_end);
        step *= 2;
      }
      while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (too_many(middle)) high = middle;
        else low = middle + 1;
      }
      left -= below(low) - below(begin);
      shares--;
      begin = low;
    }
  }
  first[count] = static_cast<std::uint32_t>(n);
  return count;
}

}  // namespace crosscut

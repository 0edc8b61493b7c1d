#include "classes.hpp"

#include <algorithm>

namespace crosscut {

bool code_classes(const std::int64_t* labels, std::size_t n, std::int64_t max_span, std::vector<std::int64_t>& classes, std::int32_t* codes) {
  std::int64_t low = labels[0], high = labels[0];
  for (std::size_t r = 0; r < n; r++) low = std::min(low, labels[r]), high = std::max(high, labels[r]);
  const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (span >= static_cast<std::uint64_t>(max_span)) return false;
  std::vector<std::int32_t> code(span + 1);  // first whether the class is there
  const auto place = [&](std::size_t r) { return static_cast<std::size_t>(labels[r] - low); };
  for (std::size_t r = 0; r < n; r++) code[place(r)] = 1;
  std::int32_t n_classes = 0;
  for (std::size_t c = 0; c <= span; c++)
    if (code[c]) {
      classes.push_back(low + static_cast<std::int64_t>(c));
      code[c] = n_classes++;
    }
  for (std::size_t r = 0; r < n; r++) codes[r] = code[place(r)];
  return true;
}

std::vector<std::int64_t> deal_folds(const std::int32_t* codes, std::size_t n, std::size_t n_classes, std::int64_t n_folds, const Shuffle& shuffle,
                                     std::int64_t* folds) {
  std::vector<std::int64_t> counts(n_classes), next(n_classes), dealt(n);
  std::vector<std::size_t> by_appearance;
  for (std::size_t r = 0; r < n; r++) {
    const auto c = static_cast<std::size_t>(codes[r]);
    if (counts[c]++ == 0) by_appearance.push_back(c);
  }
  std::int64_t end = 0;
  for (const std::size_t c : by_appearance) {
    const std::int64_t begin = next[c] = end;
    end += counts[c];
    std::int64_t* part = dealt.data() + begin;
    for (std::int64_t k = 0; k < n_folds; k++) {  // places k, k + n_folds, ... from begin to end
      const auto before = [&](std::int64_t place) { return (place - k + n_folds - 1) / n_folds; };
      part = std::fill_n(part, before(end) - before(begin), k);
    }
    if (shuffle) shuffle(dealt.data() + begin, static_cast<std::size_t>(end - begin));
  }
  for (std::size_t r = 0; r < n; r++) folds[r] = dealt[static_cast<std::size_t>(next[static_cast<std::size_t>(codes[r])]++)];
  return counts;
}

}  // namespace crosscut

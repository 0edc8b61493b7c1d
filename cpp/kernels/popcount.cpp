// Counts bits of long bit sets: the statistics of a relational test are popcounts of (truth & membership & class).
#include <cstddef>
#include <cstdint>

namespace crosscut::CROSSCUT_LEVEL {

std::uint64_t popcount(const std::uint64_t* words, std::size_t n) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; i++) sum += static_cast<std::uint64_t>(__builtin_popcountll(words[i]));
  return sum;
}

}  // namespace crosscut::CROSSCUT_LEVEL

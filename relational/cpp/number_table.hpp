// A hash table with open addressing that holds indices. The owner keeps the objects in a vector and
// compares them, so the table needs neither keys nor memory of its own for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crosscut::query {

class NumberTable {
 public:
  // The entry of the number with a hash for which is_it(number) holds; -1 and ready to be set if
  // there is none.
  template <class Is> std::int32_t& find(std::uint64_t hash, Is is_it) {
    std::size_t slot = slot_of(hash);
    while (numbers_[slot] >= 0 && !is_it(numbers_[slot])) slot = (slot + 1) & (numbers_.size() - 1);
    return numbers_[slot];
  }
  // Makes room for one more than n numbers; hash_of(number) is called for those in the table.
  template <class HashOf> void reserve(std::size_t n, HashOf hash_of) {
    if (2 * n + 2 <= numbers_.size()) return;
    std::vector<std::int32_t> known(2 * numbers_.size(), -1);
    known.swap(numbers_);
    for (std::int32_t number : known)
      if (number >= 0) find(hash_of(number), [](std::int32_t) { return false; }) = number;
  }
  void clear() { numbers_.assign(64, -1); }

 private:
  std::size_t slot_of(std::uint64_t hash) const {
    return (hash ^ hash >> 32) & (numbers_.size() - 1);
  }
  std::vector<std::int32_t> numbers_ = std::vector<std::int32_t>(64, -1);
};

}  // namespace crosscut::query

// Sets of examples, each stored once, so that equal sets have equal numbers. Number 0 is the empty
// set.
#pragma once
#include <algorithm>
#include <utility>

#include "number_table.hpp"

namespace crosscut::query {

class Sets {
 public:
  explicit Sets(std::size_t words) : words_(words) { clear(); }

  void clear() {
    size_ = 0;
    all_.assign(words_, 0);
    table_.clear();
    intern();
  }

  std::size_t bytes() const { return 8 * all_.size(); }

  // Valid until the next set is added.
  const std::uint64_t* operator[](std::int32_t number) const {
    return all_.data() + static_cast<std::size_t>(number) * words_;
  }

  // The part of `mask` outside a set, and the union of both.
  std::pair<std::int32_t, std::int32_t> add(std::int32_t number, const std::uint64_t* mask) {
    const auto combine = [&](auto of) {
      all_.resize((size_ + 1) * words_);
      const std::uint64_t* known = (*this)[number];
      for (std::size_t w = 0; w < words_; w++) all_[size_ * words_ + w] = of(known[w], mask[w]);
      return intern();
    };
    const std::int32_t beyond =
        combine([](std::uint64_t known, std::uint64_t asked) { return asked & ~known; });
    if (beyond == 0) return {0, number};
    return {beyond,
            combine([](std::uint64_t known, std::uint64_t asked) { return asked | known; })};
  }

 private:
  // The set that has been put at the end.
  std::int32_t intern() {
    const auto last = static_cast<std::int32_t>(size_);
    table_.reserve(size_, [&](std::int32_t set) { return hash_of(set); });
    std::int32_t& found = table_.find(hash_of(last), [&](std::int32_t set) {
      return std::equal((*this)[last], (*this)[last] + words_, (*this)[set]);
    });
    if (found < 0) found = static_cast<std::int32_t>(size_++);
    return found;
  }

  std::uint64_t hash_of(std::int32_t set) const {
    std::uint64_t hash = 0;
    for (std::size_t w = 0; w < words_; w++) {
      hash = (hash ^ (*this)[set][w]) * 0x9E3779B97F4A7C15ull;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::size_t words_, size_ = 0;
  std::vector<std::uint64_t> all_;
  NumberTable table_;
};

}  // namespace crosscut::query

// Blocks of memory that outlive a bundle: codes, waiting bundles, statistics. Large ones are used
// again, because touching fresh pages takes longer than filling them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <new>

#include "base/huge_pages.hpp"

namespace crosscut::CROSSCUT_LEVEL {

class Blocks {
  static constexpr std::size_t kHeader = 128, kLarge = std::size_t{1} << 16;
  static constexpr int kMostFree = 32;
  struct Block {
    Blocks* home;
    std::size_t size;
  };
  const std::size_t most_free_;  // bytes
  std::size_t n_bytes_free_ = 0;
  Block* free_[kMostFree];
  int n_free_ = 0;
  std::mutex mutex_;

  static void* data(Block* block) { return reinterpret_cast<char*>(block) + kHeader; }
  static void free(Block* block) { ::operator delete(block, std::align_val_t{kHeader}); }
  Block* known(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    int best = -1;
    for (int i = 0; i < n_free_; i++)
      if (free_[i]->size >= bytes && free_[i]->size <= 2 * bytes &&
          (best < 0 || free_[i]->size < free_[best]->size))
        best = i;
    if (best < 0) return nullptr;
    return remove(best);
  }
  Block* remove(int i) {
    Block* const block = free_[i];
    std::copy(free_ + i + 1, free_ + n_free_--, free_ + i);
    n_bytes_free_ -= block->size;
    return block;
  }
  // Keeps a block for later use. If there are too many, the oldest are freed.
  void keep(Block* block) {
    const std::scoped_lock lock(mutex_);
    while (n_free_ == kMostFree || (n_free_ && n_bytes_free_ + block->size > most_free_))
      free(remove(0));
    free_[n_free_++] = block;
    n_bytes_free_ += block->size;
  }

 public:
  explicit Blocks(std::size_t most_free) : most_free_(most_free) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() { clear(); }
  void clear() {
    while (n_free_) free(remove(0));
  }
  // Uninitialised memory, aligned to 128 bytes.
  void* take(std::size_t bytes) {
    Block* block = bytes >= kLarge ? known(bytes) : nullptr;
    if (!block) {
      block = static_cast<Block*>(::operator new(kHeader + bytes, std::align_val_t{kHeader}));
      invite_huge_pages(block, kHeader + bytes);
      block->home = this;
      block->size = bytes;
    }
    return data(block);
  }
  static void give_back(void* memory) {
    Block* const block = reinterpret_cast<Block*>(static_cast<char*>(memory) - kHeader);
    if (block->size < kLarge) free(block);
    else block->home->keep(block);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

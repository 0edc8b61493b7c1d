// The memory of one thread: a stack of chunks. Scratch memory is released by returning to a mark;
// the memory of nodes is kept until the end. Allocating is an addition, so small nodes cost no
// malloc.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/huge_pages.hpp"
#include "grow/simd/lanes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// address space: only pages that are used become memory
constexpr std::size_t kLargestChunk = std::size_t{256} << 20;
constexpr std::align_val_t kAlignment{128};

class Arena {
  struct Chunk {
    Chunk *previous, *next;
    std::size_t size;
    alignas(128) char data[1];
  };
  Chunk* chunk_ = nullptr;
  std::size_t used_ = 0;
  const bool huge_pages_;

  static void free_chunks(Chunk* first) {
    while (first) ::operator delete(std::exchange(first, first->next), kAlignment);
  }

 public:
  struct Mark {
    Chunk* chunk = nullptr;
    std::size_t used = 0;
  };
  explicit Arena(bool huge_pages = true) : huge_pages_(huge_pages) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { clear(); }
  void clear() {
    release({});
    free_chunks(std::exchange(chunk_, nullptr));
  }
  // The same, and the system gets the memory at once.
  void give_up() {
    release({});
    for (const Chunk* c = chunk_; c; c = c->next) return_pages(c->data, c->size);
    clear();
  }
  Mark mark() const { return {chunk_, used_}; }
  void release(Mark m) {
    if (!m.chunk) {  // back to the start, but keep the first chunk
      while (chunk_ && chunk_->previous) chunk_ = chunk_->previous;
      used_ = 0;
      return;
    }
    chunk_ = m.chunk;
    used_ = m.used;
  }
  template <class T, std::size_t kAlign = 128>
  T* take(std::size_t n) {  // uninitialised; use one alignment per arena
    const std::size_t bytes = (n * sizeof(T) + kAlign - 1) & ~(kAlign - 1);
    while (!chunk_ || used_ + bytes > chunk_->size) {
      if (chunk_ && chunk_->next && chunk_->next->size >= bytes) {
        chunk_ = chunk_->next;
        used_ = 0;
        continue;
      }
      if (chunk_) free_chunks(std::exchange(chunk_->next, nullptr));  // too small
      // Chunks grow, so that large bundles reuse the same few and the system clears their pages
      // only once.
      const std::size_t larger = chunk_ ? 4 * chunk_->size : std::size_t{1} << 20;
      std::size_t size = std::max(bytes, std::min(larger, kLargestChunk));
      const auto allocate = [&] {
        return ::operator new((sizeof(Chunk) + size + 255) & ~std::size_t{127}, kAlignment,
                              std::nothrow);
      };
      void* raw = allocate();
      if (!raw && size > bytes) {
        size = bytes;
        raw = allocate();
      }
      if (!raw) throw std::bad_alloc();
      if (huge_pages_) invite_huge_pages(raw, size);
      Chunk* c = static_cast<Chunk*>(raw);
      c->previous = chunk_;
      c->next = nullptr;
      c->size = size;
      if (chunk_) chunk_->next = c;
      chunk_ = c;
      used_ = 0;
    }
    char* p = chunk_->data + used_;
    used_ += bytes;
    return reinterpret_cast<T*>(p);
  }
  template <class T, std::size_t kAlign = 128>
  void give_back(std::size_t n) {  // from the end of the last allocation
    used_ -= n * sizeof(T) & ~(kAlign - 1);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

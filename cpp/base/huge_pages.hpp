// Pages of large memory on Linux. Huge pages: fewer page faults and fewer address translations.
// Returned pages: what is freed is no longer part of the process.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#if defined(__linux__)
#include <sys/mman.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace crosscut {

// Advises the system to use huge pages; has no effect if they are off or the memory is small.
static inline void invite_huge_pages([[maybe_unused]] void* memory,
                                     [[maybe_unused]] std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = 4096;
  if (bytes < (std::size_t{4} << 20)) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

// An uninitialised array. Threads that fill a large one wait less for pages, and it is freed
// faster.
template <class T> std::unique_ptr<T[]> new_array(std::size_t n) {
  std::unique_ptr<T[]> array(new T[n]);
  invite_huge_pages(array.get(), n * sizeof(T));
  return array;
}

// Returns the pages inside memory that is about to be freed to the system at once, because the
// allocator may keep them.
static inline void return_pages([[maybe_unused]] const void* memory,
                                [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t page = 4096;
  if (bytes < (std::size_t{1} << 20)) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

// The same for everything that was freed before.
static inline void return_free_pages() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace crosscut

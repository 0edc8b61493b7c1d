// Makes one allocation by `new` fail. It is preloaded; `targets.Allocations` arms it for single
// calls of the core.
#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> left{-1};  // allocations until the failure; negative: none fails
}

extern "C" void fail_after(long n) { left = n; }
extern "C" long allocations_left() { return left; }

void* operator new(std::size_t size) {
  if (left.load(std::memory_order_relaxed) >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

// Checks without early exit, so that the compiler can vectorise the loops.
#include "base/checks.hpp"

namespace crosscut {
namespace {

template <class T>
bool within(const T* numbers, std::size_t n, std::int64_t low, std::int64_t high) {
  bool outside = false;
  for (std::size_t i = 0; i < n; i++) outside |= numbers[i] < low || numbers[i] >= high;
  return !outside;
}

template <class T> std::uint32_t most(const T* numbers, std::size_t n) {
  T result = 0;
  for (std::size_t i = 0; i < n; i++) result = numbers[i] > result ? numbers[i] : result;
  return result;
}

}  // namespace

bool all_within(const std::int32_t* numbers, std::size_t n, std::int64_t low, std::int64_t high) {
  return within(numbers, n, low, high);
}
bool all_within(const std::int64_t* numbers, std::size_t n, std::int64_t low, std::int64_t high) {
  return within(numbers, n, low, high);
}
std::uint32_t largest(const std::uint8_t* numbers, std::size_t n) { return most(numbers, n); }
std::uint32_t largest(const std::uint32_t* numbers, std::size_t n) { return most(numbers, n); }

}  // namespace crosscut

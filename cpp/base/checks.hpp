// Checks of whole arrays for the bindings. They are separate because bindings are compiled for
// size.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crosscut {

// Whether every number is at least low, which is 0 or -1, and below high.
bool all_within(const std::int32_t* numbers, std::size_t n, std::int64_t low, std::int64_t high);
bool all_within(const std::int64_t* numbers, std::size_t n, std::int64_t low, std::int64_t high);

// Whether no number is above `most`, which is below 2^31.
bool all_at_most(const std::uint32_t* numbers, std::size_t n, std::uint32_t most);

// The largest number; 0 for an empty array.
std::uint32_t largest(const std::uint8_t* numbers, std::size_t n);

}  // namespace crosscut

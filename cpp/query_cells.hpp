// A set of examples as the words [begin, end) of a bit set; its other words are zero.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crosscut::query {

struct Cell {
  const std::uint64_t* bits;
  std::size_t begin, end;
};

}  // namespace crosscut::query

// scikit-learn's gap rule: no test separates values that differ by at most 1e-7 (in floats).
#pragma once
#include "problem.hpp"

namespace crosscut::CROSSCUT_LEVEL {

inline bool apart(float a, float b) { return a + 1e-7f < b; }
// The same for values with these ranks. Most pairs of ranks lie so far apart that their values,
// which are anywhere in memory, need not be read.
inline bool separable(const Column& c, std::uint32_t below, std::uint32_t above) {
  return above - below > c.close || apart(c.values[below], c.values[above]);
}

}  // namespace crosscut::CROSSCUT_LEVEL

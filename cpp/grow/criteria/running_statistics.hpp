// Running statistics of a scan over the cuts of a column, for all tasks of a bundle at once.
// promising() returns the lanes in which the current cut may beat the best test. A lane may be
// reported in vain, because the limit is lowered by a slack that covers rounding, but the best cut
// is never missed. Only promising cuts are evaluated by the exact formula. promising() does not
// divide: with weights l, r and sums of squares A, B of both sides, Gini's A/l + B/r > limit
// becomes A·r + B·l > limit·l·r. This makes large tables 1.6 times faster. alive() gives the same
// answer for a whole interval of cuts and makes them 3.3 times faster.
#pragma once
#include "any_classes.hpp"
#include "binary_gini.hpp"
#include "many_gini.hpp"
#include "moments.hpp"
#include "weighted_gini.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Calls use.operator()<P>() with the running statistics of a run; P<W> has W lanes. kFloats: at
// most kFloatRows rows, so that floats hold their counts exactly.
template <bool kFloats, class Use> void with_running_statistics(const Run& run, const Use& use) {
  switch (run.family) {
    case Family::binary_gini:
      if (run.p.class_weights) {
        if constexpr (kFloats) return use.template operator()<ClassWeightsBinaryGini>();
        else return use.template operator()<WideClassWeightsBinaryGini>();
      }
      if constexpr (kFloats) return use.template operator()<BinaryGini>();
      else return use.template operator()<WideBinaryGini>();
    case Family::many_gini:
      if (run.p.class_weights) {
        if constexpr (kFloats) return use.template operator()<ClassWeightsManyGini>();
        else return use.template operator()<WideClassWeightsManyGini>();
      }
      if constexpr (kFloats) return use.template operator()<ManyGini>();
      else return use.template operator()<WideManyGini>();
    case Family::weighted_gini:
      return use.template operator()<WeightedGini>();
    case Family::moments:
      return use.template operator()<Moments>();
    case Family::any_classes:
      break;
  }
  with_criterion(run.criterion(), [&]<class C>() {
    if constexpr (C::kRunning == Running::class_by_class)
      use.template operator()<AnyClasses<C>::template Of>();
    else throw std::logic_error("the criterion has running statistics of its own");
  });
}

}  // namespace crosscut::CROSSCUT_LEVEL

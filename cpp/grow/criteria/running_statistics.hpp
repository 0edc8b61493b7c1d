// The running statistics of a scan, all tasks at once. Each struct answers one question quickly: in
// which lanes might the cut reached now beat the best test so far? It may say yes too often (its
// limit is lowered by a slack that covers rounding), never no too often; whatever passes is judged
// by the exact formula. No division in the loop: with l, r the sides' weights and A, B their Σ of
// squares, Gini's quality A/l + B/r > limit  ⇔  A·r + B·l > limit·l·r.
#pragma once
#include "any_classes.hpp"
#include "binary_gini.hpp"
#include "many_gini.hpp"
#include "moments.hpp"
#include "weighted_gini.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Calls use.operator()<P>() with the running statistics of a run, P<W> being those of W lanes.
// kFloats: of at most kFloatRows rows, whose counts are exact in floats.
template <bool kFloats, class Use>
void with_running_statistics(const Run& run, const Use& use) {
  switch (run.family) {
    case Family::binary_gini:
      if constexpr (kFloats) return use.template operator()<BinaryGini>();
      else return use.template operator()<WideBinaryGini>();
    case Family::many_gini:
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

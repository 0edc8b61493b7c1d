// Base of the running statistics of classes: one sum per class and lane, of the whole nodes and of
// the rows left of the cut.
#pragma once
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Real, int W> struct ClassSums {
  using T = Real;
  using V = Vec<T, W>;
  const int C;
  V *n_c, *l_c;  // [C]
  V limit;       // a lane's best quality so far, less a slack for rounding

  ClassSums(const Run& run, const Bundle& bundle, double* space)
      : C(run.K()),
        n_c(reinterpret_cast<V*>(space)),
        l_c(n_c + C),
        limit(all<T, W>(std::numeric_limits<T>::infinity())) {
    for (int c = 0; c < C; c++) n_c[c] = V{};
    each_bit(bundle.lanes, [&](int k) {
      for (int c = 0; c < C; c++)
        set_lane<T, W>(n_c[c], k, static_cast<T>(bundle.node[k]->stats[c]));
    });
  }
  void clear_classes() {
    for (int c = 0; c < C; c++) l_c[c] = V{};
  }
  void copy_classes(const ClassSums& o) {
    limit = o.limit;
    for (int c = 0; c < C; c++) l_c[c] = o.l_c[c];
  }
  // Sums of squared class weights: A left of the cut, B right of it.
  CC_INLINE void sum_squares(V& a, V& b) const {
    a = b = V{};
    for (int c = 0; c < C; c++) {
      const V right_c = n_c[c] - l_c[c];
      a += l_c[c] * l_c[c];
      b += right_c * right_c;
    }
  }
  void left(int k, double* s) const {
    for (int c = 0; c < C; c++) s[c] = lane<T, W>(l_c[c], k);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

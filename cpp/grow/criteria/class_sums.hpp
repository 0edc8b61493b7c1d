// Base of the running statistics of classes: one sum per class and lane, of the whole nodes and of
// the rows left of the cut. For a single task, eight classes are lanes, which makes large tables of
// ten classes up to 1.7 times faster.
#pragma once
#include "grow/search.hpp"

namespace crosscut::CROSSCUT_LEVEL {

template <class Real, int W> struct ClassSums {
  using T = Real;
  using V = Vec<T, W>;
  static constexpr int kStep = W == 1 ? 8 : 1;  // classes at a time
  using Step = Vec<T, W * kStep>;               // their numbers
  const int C, padded;                          // padded: C, or the next multiple of kStep
  V *n_c, *l_c;                                 // [padded]; 0 behind the end
  V limit;  // a lane's best quality so far, less a slack for rounding

  ClassSums(const Run& run, const Bundle& bundle, double* space)
      : C(run.K()),
        padded((C + kStep - 1) / kStep * kStep),
        n_c(reinterpret_cast<V*>(space)),
        l_c(n_c + padded),
        limit(all<T, W>(std::numeric_limits<T>::infinity())) {
    for (int c = 0; c < padded; c++) n_c[c] = V{};
    each_bit(bundle.lanes, [&](int k) {
      for (int c = 0; c < C; c++)
        set_lane<T, W>(n_c[c], k, static_cast<T>(bundle.node[k]->stats[c]));
    });
  }
  void clear_classes() {
    for (int c = 0; c < padded; c++) l_c[c] = V{};
  }
  void copy_classes(const ClassSums& o) {
    limit = o.limit;
    for (int c = 0; c < C; c++) l_c[c] = o.l_c[c];
  }
  // The numbers of the classes from c.
  static CC_INLINE Step step(const V* at, int c) {
    Step x;
    __builtin_memcpy(&x, at + c, sizeof x);
    return x;
  }
  // The sum over the classes of a step.
  static CC_INLINE V sum(const Step& x) {
    if constexpr (W > 1) return x;
    else return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
  }
  // Sums of squared class weights: A left of the cut, B right of it.
  CC_INLINE void sum_squares(V& a, V& b) const {
    Step left{}, right{};
    for (int c = 0; c < padded; c += kStep) {
      const Step l = step(l_c, c), r = step(n_c, c) - l;
      left += l * l;
      right += r * r;
    }
    a = sum(left);
    b = sum(right);
  }
  void left(int k, double* s) const {
    for (int c = 0; c < C; c++) s[c] = lane<T, W>(l_c[c], k);
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

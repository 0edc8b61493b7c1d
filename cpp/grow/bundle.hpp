// A bundle: nodes of different tasks that are refined together in one pass because their rows
// overlap. Each task is a lane. The rows of the union and their lane masks are stored separately:
// LargeRows (large/codes.hpp) or SingleRows (small/local_table.hpp).
#pragma once
#include <algorithm>

#include "run.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct Bundle {
  int n = 0, depth = 0;  // n: number of lanes
  u32 lanes = 0;         // lanes whose nodes still need a test
  u8 task[kLanes];       // task within the block
  Node* node[kLanes];
  i64 min_leaf[kLanes];
  double to_do = 1;  // fraction of the work on its rows that is left

  void take_lane(int to, const Bundle& from, int k) {
    task[to] = from.task[k];
    node[to] = from.node[k];
    min_leaf[to] = from.min_leaf[k];
    lanes |= (from.lanes >> k & 1) << to;
  }
  // The bundle of the lanes in `keep`, packed together.
  Bundle packed(u32 keep) const {
    Bundle out;
    out.depth = depth;
    out.to_do = to_do;
    each_bit(keep, [&](int k) { out.take_lane(out.n++, *this, k); });
    return out;
  }
  // Number of rows, summed over the nodes of the lanes.
  double lane_rows() const {
    double sum = 0;
    each_bit(lanes, [&](int k) { sum += static_cast<double>(node[k]->n_rows); });
    return sum;
  }
};

inline std::size_t task_of(const Worker& w, const Bundle& bundle, int k) {
  return static_cast<std::size_t>(w.block * kBlockTasks + bundle.task[k]);
}
inline const TaskLimits& limits_of(const Worker& w, const Bundle& bundle, int k) {
  return w.run.p.limits[task_of(w, bundle, k)];
}

// The class weights of lane k's task, or null.
inline const ClassWeights* weights_of(const Worker& w, const Bundle& bundle, int k) {
  return w.run.p.weights_of(task_of(w, bundle, k));
}

// How often lane k's task counts a row of the table.
inline u32 times_of(const Worker& w, const Bundle& bundle, int k, std::size_t row) {
  const Problem& p = w.run.p;
  return p.multiplicity ? p.multiplicity[task_of(w, bundle, k) * p.n_rows + row] : 1;
}

inline i64* empty_sums(Worker& w, int n = 1) {
  const auto size = static_cast<std::size_t>(n * w.run.p.n_sums());
  i64* sums = w.scratch.take<i64>(size);
  std::fill_n(sums, size, i64{0});
  return sums;
}

// Allocates the sums of a leaf's value.
inline void start_sums(Worker& w, Node& leaf) {
  const auto size = static_cast<std::size_t>(w.run.p.n_sums());
  leaf.exact = w.keep<i64>(size);
  std::fill_n(leaf.exact, size, i64{0});
}

// Adds a row of the table to the exact sums of lane k.
CC_INLINE void add_exactly(const Worker& w, const Bundle& bundle, int k, std::size_t row,
                           i64* sums) {
  const Problem& p = w.run.p;
  const i64 times = times_of(w, bundle, k, row);
  const int width = p.exact.width;
  const i64* digits = p.exact.row(row);
  if (p.class_weights) [[unlikely]]
    digits = weights_of(w, bundle, k)->digits + p.classes[row] * width;
  if (p.n_classes) sums += p.classes[row] * width;
  for (int d = 0; d < width; d++) sums[d] += times * digits[d];
}

// times_of() of n rows and all lanes, [row][kLanes]; null if every row counts once. Lane k must be
// task k of the block.
template <class Row> const u8* times_of_lanes(Worker& w, u32 n, Row row) {
  const Problem& p = w.run.p;
  if (!p.multiplicity) return nullptr;
  u8* times = w.scratch.take<u8>(static_cast<std::size_t>(n) * kLanes);
  for (u32 k = 0; k < kLanes; k++) {
    const std::size_t task = static_cast<std::size_t>(w.block * kBlockTasks) + k;
    const bool used = k < kBlockTasks && task < static_cast<std::size_t>(p.n_tasks);
    for (u32 i = 0; i < n; i++)
      times[static_cast<std::size_t>(i) * kLanes + k] =
          used ? p.multiplicity[task * p.n_rows + row(i)] : 0;
  }
  return times;
}

// The lanes of a bundle whose tasks may use column f.
inline u32 allowed_lanes(const Worker& w, const Bundle& bundle, int f) {
  const Problem& p = w.run.p;
  if (!p.features) return bundle.lanes;
  u32 bits = 0;
  each_bit(bundle.lanes, [&](int k) {
    bits |=
        static_cast<u32>(p.features[task_of(w, bundle, k) * static_cast<std::size_t>(p.n_features) +
                                    static_cast<std::size_t>(f)] != 0)
        << k;
  });
  return bits;
}

}  // namespace crosscut::CROSSCUT_LEVEL

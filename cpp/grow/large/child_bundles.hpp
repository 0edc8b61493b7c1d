// Decides which child nodes are refined together: bundles by overlapping rows, not by equal tests
// (the paper's 3.3 asks for this).
// The rows of a task in one branch of its test are a child set. Child sets of different tasks are
// merged greedily as long as that lowers Σ |union| · cost(number of tasks), estimated on a sample
// of the rows. This only decides what is computed together and never changes a tree. It makes large
// tables 2.7 times faster. With bundling off, the paper's rule applies: only tasks with the same
// test stay together.
#pragma once
#include "route.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSample = 512;
constexpr u32 kTinyBundle = 24;  // below this many rows merging costs more than it saves
// with more children than this, all pairs would be compared for children of few rows each
constexpr int kMostMerged = 256;

// Cost of a row in a bundle with this many lanes, relative to one lane (measured by
// benchmarks/lanes.py).
inline double lane_cost(const Run& run, u32 lanes) {
  const int n = __builtin_popcount(lanes);
  if (n <= 1) return 1;
  if (run.family == Family::any_classes) return 0.6 + 0.4 * n;  // lane by lane
  if (run.counts_gini()) return n <= 8 ? 1.25 : 1.5;
  return n <= 8 ? 1.7 : 2.2;  // doubles
}

inline int popcount(const u64* words, u32 n_words) {
  int n = 0;
  for (u32 i = 0; i < n_words; i++) n += __builtin_popcountll(words[i]);
  return n;
}

// Marks which rows of a sample each child bundle would hold. Returns the number of words per child.
template <class Rows>
u32 sample_rows(Worker& w, const Rows& rows, const Fork& fork, const u16* left,
                const ChildBundles& children) {
  const u32 sample = rows.n < kSample ? rows.n : kSample;
  const u32 step = rows.n / sample;
  const u32 words = (sample + 63) / 64;
  ChildBundle* const c = children.bundle;
  for (int i = 0; i < children.n; i++) std::fill_n(c[i].sample, words, u64{0});
  if (left) {
    u16 mask[kSample];
    u16 goes_left[kSample];
    for (u32 q = 0; q < sample; q++) {
      mask[q] = static_cast<u16>(rows.mask(q * step));
      goes_left[q] = left[q * step];
    }
    for (ChildBundle* child = c; child < c + children.n; child++) {
      const u16 first = static_cast<u16>(child->left);
      const u16 second = static_cast<u16>(child->right);
      for (u32 q = 0; q < sample; q++) {
        const bool here = lanes_in(mask[q], goes_left[q], first, second) != 0;
        child->sample[q / 64] |= u64{here} << q % 64;
      }
    }
    return words;
  }
  const Leads where(w.scratch, fork, children);
  for (int j = 0; j < fork.n_tests; j++)
    for (u32 q = 0; q < sample; q++) {
      const Test& t = fork.tests[j];
      const u32 m = rows.mask(q * step);
      const int b = m & t.lanes ? t.branch(rows.rank(t.feature, q * step)) : -1, i = where(j, b);
      if (i >= 0 && m & c[i].lanes) c[i].sample[q >> 6] |= u64{1} << (q & 63);
    }
  return words;
}

// Starts with one child bundle per branch of each test.
inline ChildBundles one_per_branch(Worker& w, const Fork& fork) {
  int n = 0;
  for (int j = 0; j < fork.n_tests; j++)
    for (int b = 0; b < fork.tests[j].n_branches; b++) n += fork.tests[j].open[b] != 0;
  ChildBundles out{w.scratch.take<ChildBundle>(static_cast<std::size_t>(n ? n : 1)), 0};
  for (int j = 0; j < fork.n_tests; j++)
    for (int b = 0; b < fork.tests[j].n_branches; b++)
      if (const u32 lanes = fork.tests[j].open[b]) {
        ChildBundle& c = out.bundle[out.n++];
        c.lanes = lanes;
        c.n_sets = 1;
        c.sets[0] = {j, b};
        c.n = 0;
        c.left = b == 0 ? lanes : 0;
        c.right = b == 0 ? 0 : lanes;
      }
  return out;
}

// Merges the two child bundles whose merging saves most, until no pair saves anything.
template <class Rows>
void merge_overlapping(Worker& w, const Rows& rows, const Fork& fork, const u16* left,
                       ChildBundles& children) {
  ChildBundle* const all = children.bundle;
  int& n = children.n;
  const u32 words = sample_rows(w, rows, fork, left, children);
  const auto find_cost = [&](ChildBundle& c) {
    c.cost = popcount(c.sample, words) * lane_cost(w.run, c.lanes);
  };
  for (int i = 0; i < n; i++) find_cost(all[i]);
  const auto size = static_cast<std::size_t>(n);
  double* gains = w.scratch.take<double>(size * size);  // what merging two would save
  const auto gain_of = [&](int i, int j) -> double& {
    return gains[static_cast<std::size_t>(i < j ? i : j) * size +
                 static_cast<std::size_t>(i < j ? j : i)];
  };
  const auto find_gain = [&](int i, int j) {
    const ChildBundle &a = all[i], &b = all[j];
    double& gain = gain_of(i, j) = 0;
    if (a.lanes & b.lanes) return;
    int joint = 0;
    for (u32 q = 0; q < words; q++) joint += __builtin_popcountll(a.sample[q] | b.sample[q]);
    gain = a.cost + b.cost - joint * lane_cost(w.run, a.lanes | b.lanes);
  };
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) find_gain(i, j);
  while (n > 1) {
    double most = 0;
    int first = -1, second = -1;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++)
        if (const double gain =
                gains[static_cast<std::size_t>(i) * size + static_cast<std::size_t>(j)];
            gain > most) {
          most = gain;
          first = i;
          second = j;
        }
    if (first < 0) break;
    ChildBundle &a = all[first], &b = all[second];
    for (int i = 0; i < b.n_sets; i++) a.sets[a.n_sets++] = b.sets[i];
    for (u32 i = 0; i < words; i++) a.sample[i] |= b.sample[i];
    a.lanes |= b.lanes;
    a.left |= b.left;
    a.right |= b.right;
    find_cost(a);
    all[second] = all[--n];
    for (int i = 0; i < n; i++) {
      if (i != first) find_gain(first, i);
      if (second < n && i != second && i != first) find_gain(second, i);
    }
  }
}

// The child bundles of a bundle. Their rows are counted; the caller allocates room and calls
// route().
inline ChildBundles child_bundles(Worker& w, const LargeRows& rows, const Fork& fork) {
  ChildBundles children = one_per_branch(w, fork);
  if (!children.n) return children;
  const u16* left = lanes_left(w, rows, fork);
  children.left = left;
  if (fork.n_tests > 1 && children.n > 1 && children.n <= kMostMerged && w.run.p.bundling &&
      !off(Acceleration::overlap_bundles) && rows.n >= kTinyBundle)
    merge_overlapping(w, rows, fork, left, children);
  if (left) count_binary(w, rows, children);
  else route_multiway(w, rows, fork, children, false);
  return children;
}
inline void route(Worker& w, const LargeRows& rows, const Fork& fork,
                  const ChildBundles& children) {
  if (children.left) route_binary(w, rows, children);
  else route_multiway(w, rows, fork, children, true);
}

// Turns a child into a bundle. Lanes are packed together unless multiplicities tie them to their
// places.
inline Bundle bundle_of(const Worker& w, const Bundle& parent, const Fork& fork,
                        const ChildBundle& child) {
  Bundle next;
  next.depth = parent.depth + 1;
  const bool pack = !w.run.p.multiplicity;
  each_bit(child.lanes, [&](int k) {
    const int to = pack ? next.n++ : k;
    next.take_lane(to, parent, k);
    for (int i = 0; i < child.n_sets; i++) {
      const Test& t = fork.tests[child.sets[i].test];
      if (t.open[child.sets[i].branch] >> k & 1)
        next.node[to] = t.child[child.sets[i].branch * kLanes + k];
    }
  });
  if (!pack) next.n = kLanes;
  return next;
}

}  // namespace crosscut::CROSSCUT_LEVEL

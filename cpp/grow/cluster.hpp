// Which child sets are refined together: greedy merging while it lowers Σ |union| · cost(tasks), on a sample of the rows
// (DESIGN.md 3.2). It decides only what is computed together, never a tree.
#pragma once
#include "route.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSample = 512;
constexpr u32 kTinyBundle = 24;  // below this many rows clustering costs more than it saves

// What a row costs with so many lanes, relative to one: measured by benchmarks/lanes.py.
inline double lane_cost(const Run& run, u32 lanes) {
  const int n = __builtin_popcount(lanes);
  if (n <= 1) return 1;
  if (run.family == Run::Family::any_classes && run.judge.criterion != Criterion::gini) return 0.6 + 0.4 * n;  // lane by lane
  if (run.family == Run::Family::binary_gini || run.family == Run::Family::many_gini) return n <= 8 ? 1.25 : 1.5;
  return n <= 8 ? 1.7 : 2.2;  // doubles
}

inline int popcount(const u64* words, u32 n_words) {
  int n = 0;
  for (u32 i = 0; i < n_words; i++) n += __builtin_popcountll(words[i]);
  return n;
}

// The rows of a sample that each cluster would hold.
template <class Rows>
u32 sample_rows(Worker& w, const Rows& rows, const Test* tests, int n_tests, const u16* left, Cluster* clusters, int n) {
  const u32 sample = rows.n < kSample ? rows.n : kSample, step = rows.n / sample, words = (sample + 63) / 64;
  for (int i = 0; i < n; i++)
    for (u32 q = 0; q < words; q++) clusters[i].rows[q] = 0;
  if (left) {
    alignas(64) u16 mask[kSample], l[kSample];
    for (u32 q = 0; q < sample; q++) mask[q] = static_cast<u16>(rows.mask(q * step)), l[q] = left[q * step];
    for (u32 q = sample; q < words * 64; q++) mask[q] = l[q] = 0;
    for (int i = 0; i < n; i++)
      for (u32 q = 0; q < words; q++)
        clusters[i].rows[q] = here(mask + 64 * q, l + 64 * q, static_cast<u16>(clusters[i].left), static_cast<u16>(clusters[i].right));
    return words;
  }
  const Places where(w.scratch, tests, n_tests, clusters, n);
  for (int j = 0; j < n_tests; j++)
    for (u32 q = 0; q < sample; q++) {
      const u32 m = rows.mask(q * step);
      const int b = m & tests[j].lanes ? tests[j].branch(rows.rank(tests[j].feature, q * step)) : -1, c = where(j, b);
      if (c >= 0 && m & clusters[c].lanes) clusters[c].rows[q >> 6] |= u64{1} << (q & 63);
    }
  return words;
}

template <class Rows>
int make_clusters(Worker& w, const Rows& rows, const Test* tests, int n_tests, const u16* left, Cluster*& clusters) {
  int n = 0;
  for (int j = 0; j < n_tests; j++)
    for (int b = 0; b < tests[j].n_branches; b++) n += tests[j].open[b] != 0;
  clusters = w.scratch.take<Cluster>(static_cast<std::size_t>(n ? n : 1));
  n = 0;
  for (int j = 0; j < n_tests; j++)
    for (int b = 0; b < tests[j].n_branches; b++)
      if (tests[j].open[b]) {
        Cluster& c = clusters[n++];
        c.lanes = tests[j].open[b], c.n_items = 1, c.items[0] = {j, b};
        c.left = b == 0 ? c.lanes : 0, c.right = b == 0 ? 0 : c.lanes;
      }
  if (n_tests < 2 || n < 2 || !w.run.p.bundling || rows.n < kTinyBundle) return n;

  const u32 words = sample_rows(w, rows, tests, n_tests, left, clusters, n);
  for (int i = 0; i < n; i++) clusters[i].cost = popcount(clusters[i].rows, words) * lane_cost(w.run, clusters[i].lanes);
  const auto size = static_cast<std::size_t>(n);
  double* gains = w.scratch.take<double>(size * size);  // what merging two clusters would save
  const auto find_gain = [&](int i, int j) {
    double& gain = gains[static_cast<std::size_t>(i < j ? i : j) * size + static_cast<std::size_t>(i < j ? j : i)];
    const Cluster &a = clusters[i], &b = clusters[j];
    gain = 0;
    if (a.lanes & b.lanes) return;
    int joint = 0;
    for (u32 q = 0; q < words; q++) joint += __builtin_popcountll(a.rows[q] | b.rows[q]);
    gain = a.cost + b.cost - joint * lane_cost(w.run, a.lanes | b.lanes);
  };
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) find_gain(i, j);
  while (n > 1) {
    double most = 0;
    int first = -1, second = -1;
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++)
        if (const double gain = gains[static_cast<std::size_t>(i) * size + static_cast<std::size_t>(j)]; gain > most) most = gain, first = i, second = j;
    if (first < 0) break;
    Cluster &a = clusters[first], &b = clusters[second];
    for (int i = 0; i < b.n_items; i++) a.items[a.n_items++] = b.items[i];
    for (u32 i = 0; i < words; i++) a.rows[i] |= b.rows[i];
    a.lanes |= b.lanes, a.left |= b.left, a.right |= b.right;
    a.cost = popcount(a.rows, words) * lane_cost(w.run, a.lanes);
    clusters[second] = clusters[--n];
    for (int i = 0; i < n; i++) {
      if (i != first) find_gain(first, i);
      if (second < n && i != second && i != first) find_gain(second, i);
    }
  }
  return n;
}

// The team of a child bundle: lanes are packed together unless multiplicities tie them to their places.
inline Team child_team(const Worker& w, const Team& team, const Test* tests, const Cluster& c) {
  Team next;
  next.depth = team.depth + 1;
  const bool pack = !w.run.p.multiplicity;
  each_bit(c.lanes, [&](int k) {
    const int to = pack ? next.n++ : k;
    for (int i = 0; i < c.n_items; i++)
      if (tests[c.items[i].test].open[c.items[i].branch] >> k & 1)
        next.node[to] = tests[c.items[i].test].child[c.items[i].branch * kLanes + k];
    next.task[to] = team.task[k], next.min_leaf[to] = team.min_leaf[k];
    next.lanes |= 1u << to;
  });
  if (!pack) next.n = kLanes;
  return next;
}

}  // namespace crosscut::CROSSCUT_LEVEL

// Which child sets are refined together: greedy merging while it lowers Σ |union| · cost(tasks), on a sample of the rows
// (DESIGN.md 3.2). It decides only what is computed together, never a tree.
#pragma once
#include "settle.hpp"

namespace crosscut::CROSSCUT_LEVEL {

constexpr u32 kSample = 512;
constexpr u32 kTinyBundle = 48;  // below this many rows clustering costs more than it saves

inline double lane_cost(u32 lanes) {  // assumed cost of a row with this many lanes, relative to one; not yet measured
  const int n = __builtin_popcount(lanes);
  return n <= 1 ? 1.0 : n <= 8 ? 1.25 : 1.5;
}

inline int popcount(const u64* words, u32 n_words) {
  int n = 0;
  for (u32 i = 0; i < n_words; i++) n += __builtin_popcountll(words[i]);
  return n;
}

template <class Rows>
int make_clusters(Worker& w, const Rows& rows, const Test* tests, int n_tests, Cluster*& clusters) {
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
      }
  if (n_tests < 2 || n < 2 || !w.run.p.bundling || rows.n < kTinyBundle) return n;

  const u32 sample = rows.n < kSample ? rows.n : kSample, step = rows.n / sample, words = (sample + 63) / 64;
  for (int i = 0; i < n; i++)
    for (u32 q = 0; q < words; q++) clusters[i].rows[q] = 0;
  for (int i = 0, end; i < n; i = end) {  // the branches of one test follow each other
    const int j = clusters[i].items[0].test;
    for (end = i + 1; end < n && clusters[end].items[0].test == j;) end++;
    for (u32 q = 0; q < sample; q++) {
      const u32 m = rows.mask(q * step);
      if (!(m & tests[j].lanes)) continue;
      const int b = tests[j].branch(rows.rank(tests[j].feature, q * step));
      for (int c = i; c < end; c++)
        if (clusters[c].items[0].branch == b && m & clusters[c].lanes) clusters[c].rows[q >> 6] |= u64{1} << (q & 63);
    }
  }
  for (int i = 0; i < n; i++) clusters[i].cost = popcount(clusters[i].rows, words) * lane_cost(clusters[i].lanes);
  while (n > 1) {
    double most = 0;
    int first = -1, second = -1;
    for (int a = 0; a < n; a++)
      for (int b = a + 1; b < n; b++) {
        if (clusters[a].lanes & clusters[b].lanes) continue;
        int joint = 0;
        for (u32 i = 0; i < words; i++) joint += __builtin_popcountll(clusters[a].rows[i] | clusters[b].rows[i]);
        const double gain = clusters[a].cost + clusters[b].cost - joint * lane_cost(clusters[a].lanes | clusters[b].lanes);
        if (gain > most) most = gain, first = a, second = b;
      }
    if (first < 0) break;
    Cluster &a = clusters[first], &b = clusters[second];
    for (int i = 0; i < b.n_items; i++) a.items[a.n_items++] = b.items[i];
    for (u32 i = 0; i < words; i++) a.rows[i] |= b.rows[i];
    a.lanes |= b.lanes;
    a.cost = popcount(a.rows, words) * lane_cost(a.lanes);
    clusters[second] = clusters[--n];
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

// The tasks for which a row belongs to the child bundle, as lanes of the parent.
template <class Rows>
CC_INLINE u32 lanes_in(const Rows& rows, const Test* tests, const Cluster& c, u32 i) {
  u32 m = 0;
  for (int j = 0; j < c.n_items; j++) {
    const Test& t = tests[c.items[j].test];
    if (t.branch(rows.rank(t.feature, i)) == c.items[j].branch) m |= t.open[c.items[j].branch];
  }
  return m & rows.mask(i);
}

}  // namespace crosscut::CROSSCUT_LEVEL

// The search for the best tests of a bundle: the best of every lane so far, and what searches of large and small bundles share.
#pragma once
#include "bundle.hpp"
#include "nominal.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// The best test of every lane so far: highest quality, then lowest feature, then lowest key (the order within a feature).
struct Best {
  double q[kLanes];
  int feature[kLanes];
  u64 key[kLanes];
  i64 n_left[kLanes];
  double* left;  // [kLanes][K], numeric tests only
  int K;

  explicit Best(Worker& w) : left(w.scratch.take<double>(static_cast<std::size_t>(kLanes * w.run.K()))), K(w.run.K()) {
    for (int t = 0; t < kLanes; t++) q[t] = kNever, feature[t] = -1, key[t] = 0;
  }
  void merge(const Best& from) {
    for (int k = 0; k < kLanes; k++)
      if (from.feature[k] >= 0 && beats(k, from.q[k], from.feature[k], from.key[k])) {
        q[k] = from.q[k], feature[k] = from.feature[k], key[k] = from.key[k], n_left[k] = from.n_left[k];
        std::copy_n(from.left + k * K, K, left + k * K);
      }
  }
  bool beats(int t, double quality, int f, u64 order) const {
    return quality > q[t] || (quality == q[t] && quality > kNever && (f < feature[t] || (f == feature[t] && order < key[t])));
  }
  bool offer_left(const Judge& judge, const Bundle& bundle, int t, int f, u64 order, i64 n, const double* stats) {
    const Node& node = *bundle.node[t];
    if (n < bundle.min_leaf[t] || node.n_rows - n < bundle.min_leaf[t]) return false;
    const double quality = judge.binary(stats, node.stats);
    if (!beats(t, quality, f, order)) return false;
    q[t] = quality, feature[t] = f, key[t] = order, n_left[t] = n;
    for (int c = 0; c < K; c++) left[t * K + c] = stats[c];
    return true;
  }
};

// Order of the tests of a numeric column: missing right, present | missing, missing left; then the cut.
enum : u64 { kMissingRight = 0, kPresence = 1, kMissingLeft = 2 };
constexpr u64 numeric_key(u64 phase, u32 cut) { return phase << 40 | cut; }
constexpr u64 phase_of(u64 key) { return key >> 40; }
constexpr u32 cut_of(u64 key) { return static_cast<u32>(key); }

// A lane's missing rows in the column being searched, and what a cut means for it: without own values above the cut "missing right" is
// the test "present | missing"; without own values below it "missing left" is that test mirrored, which is no candidate.
struct MissingRows {
  i64 n[kLanes] = {};
  CC_INLINE bool meaning(int k, i64 left, i64 rows, u64& key) const {
    if (!n[k]) return true;
    if (phase_of(key) == kMissingLeft) return left != n[k];
    if (phase_of(key) == kMissingRight && left == rows - n[k]) key = numeric_key(kPresence, 0);
    return true;
  }
};

// What a scan reads of the rows of a bundle. A row is described by 32 bits `info`: its mask below, and above it the mask of class 1 (two
// classes) or the class.
struct ScanRows {
  const u32* info;
  const double *weight, *product;
  const u8* times;  // [row][kLanes] or null
};

// 1, or how often the row counts, in the lanes of the mask; 0 elsewhere
template <class T, int W>
CC_INLINE Vec<T, W> times_of_row(const u8* times, std::size_t row, u32 mask) {
  Vec<T, W> m = ones<T, W>(mask);
  if (times)
    for (int k = 0; k < W; k++)
      if (mask >> k & 1) set_lane<T, W>(m, k, static_cast<T>(times[row * kLanes + static_cast<u32>(k)]));
  return m;
}

// P is one of lane_statistics.hpp: the running statistics of a scan.
template <class P>
struct Search {
  static constexpr int W = static_cast<int>(sizeof(typename P::V) / sizeof(typename P::T));
  using V = typename P::V;
  Worker& w;
  const Bundle& bundle;
  Best& best;
  P p;
  P* other = nullptr;  // another scan's, which has to learn of better tests, too
  double* stats;
  MissingRows missing_rows;

  static double* space(Worker& w) { return w.scratch.take<double>(static_cast<std::size_t>(2 * w.run.K() * W + 16)); }
  Search(Worker& worker, const Bundle& b, Best& so_far)
      : w(worker), bundle(b), best(so_far), p(worker.run, b, so_far, space(worker)),
        stats(worker.scratch.take<double>(static_cast<std::size_t>(worker.run.K()))) {}

  void lower(int k) {
    p.lower(best, k);
    if (other) other->lower(best, k);
  }
  // The cut that a scan has reached, by the exact formula.
  __attribute__((noinline)) void judge(const P& state, u32 lanes, int f, u64 key) {
    each_bit(lanes, [&](int k) {
      u64 order = key;
      const i64 left = state.rows_left(k);
      if (!missing_rows.meaning(k, left, bundle.node[k]->n_rows, order)) return;
      state.left(k, stats);
      if (best.offer_left(w.run.judge, bundle, k, f, order, left, stats)) lower(k);
    });
  }
  // A nominal column: lane k's statistics, [n_categories][K], and rows per category.
  void judge_nominal(int k, int f, const double* table, const i64* n, u32 n_categories) {
    const NominalChoice choice =
        choose_nominal(w.run, table, n, static_cast<int>(n_categories), *bundle.node[k], bundle.min_leaf[k], w.scratch, nullptr);
    if (best.beats(k, choice.q, f, choice.key)) best.q[k] = choice.q, best.feature[k] = f, best.key[k] = choice.key, lower(k);
  }
  // The lanes whose own neighbours around a cut between the places a and b = a + 1 or later are far enough apart (gap rule). Places are
  // entries of a list or bins, `first` to `last`; own(x, k): does lane k have rows there? low, high: a place's last and first value.
  template <class Own, class Low, class High>
  static u32 parted(u32 lanes, u32 a, u32 b, u32 first, u32 last, Own own, Low low, High high) {
    if (apart(low(a), high(b))) return lanes;
    u32 ok = 0;
    each_bit(lanes, [&](int k) {
      u32 x = a, y = b;
      while (x > first && !own(x, k)) x--;
      while (y < last && !own(y, k)) y++;
      ok |= static_cast<u32>(apart(low(x), high(y))) << k;
    });
    return ok;
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

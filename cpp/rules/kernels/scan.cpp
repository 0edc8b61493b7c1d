// A pass over a bundle's sorted rows that finds the best cuts or categories of a feature by lane.
//
// Rows are lines of 0/1 bytes, so the sums of 16 to 64 lanes cost a few vector additions per row.
// The cuts inside a block of rows are evaluated only if a bound allows them to be among the best.
// Whatever the order of the block's rows, a cut inside it covers at most as much of a class as a
// cut at the block's end, and at least as much of the others as a cut at its beginning. Every
// quality increases with the former and decreases with the latter. The approximate quality computed
// here only saves calls of rules::offer, which decides by the exact quality.
#include "scan_sums.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Kind;
constexpr std::size_t block_rows = rules::block_rows;
// up to this number of lanes are evaluated one by one, more as a whole group
constexpr int most_single = 4;

// The approximate quality of each lane's rule.
template <class T, Kind kind, bool any>
F score(const Scan& s, std::size_t group, const Sums<T>& sums, F n) {
  const auto constant = [&](const float* p) { return load<float>(p + group * W); };
  if constexpr (kind == Kind::entropy) {
    F sum = n - n;
    for (int c = 0; c < s.n_columns; c++) {
      const F p = to_float<T>(sums.of[c]);
      sum += p * quick_log2(p);
    }
    return sum / n - quick_log2(n);
  } else {
    return quality_of<kind>(
        any ? s.n_columns : 1, [&](int c) { return to_float<T>(sums.of[c]); },
        [&](int c) { return constant(s.a + static_cast<std::size_t>(c) * s.lanes()); }, n,
        constant(s.b));
  }
}

// Offers a condition to the lanes in which it might be among the best.
template <class T, Kind kind, bool any>
void evaluate(const Scan& s, std::size_t group, const Sums<T>& sums, I some, std::int32_t op,
              std::uint32_t rank) {
  const auto constant = [&](const float* p) { return load<float>(p + group * W); };
  const auto exact_n = sums.n(s);
  const F n = to_float<T>(exact_n), least = constant(s.least);
  I hit = {};
  if constexpr (kind == Kind::entropy) {
    hit = score<T, kind, any>(s, group, sums, n) >= least;
  } else {
    for (int c = 0; c < (any ? s.n_columns : 1); c++)
      hit |= reaches<kind>(to_float<T>(sums.of[c]), n,
                           constant(s.a + static_cast<std::size_t>(c) * s.lanes()), constant(s.b),
                           least);
  }
  hit &= some & (n >= constant(s.least_weight));
  // differences of weights may be too small for float
  if constexpr (sizeof(T) == sizeof(float)) hit &= n < constant(s.whole);
  std::uint32_t lanes = lanes_of(hit);
  if (!lanes) return;
  double counts[256];
  for (; lanes; lanes &= lanes - 1) {
    const auto l = static_cast<std::size_t>(__builtin_ctz(lanes));
    for (int c = 0; c < (any ? s.n_columns : 1); c++)
      counts[c] = static_cast<double>(sums.of[c][l]);
    rules::offer(*s.bundle, group * W + l, s.feature, op, rank, static_cast<double>(exact_n[l]),
                 counts);
  }
}

// The lanes in which a cut inside a block might be among the best; `below` are the sums of the rows
// before it. A lane without rows in the block has no cut there, unless the row before the block has
// the same value as its first row (`continued`).
template <class T, Kind kind, bool any>
std::uint32_t promising(const Scan& s, std::size_t group, const Sums<T>& all, const Sums<T>& below,
                        const Sums<T>& block, bool continued) {
  const auto constant = [&](const float* p) { return load<float>(p + group * W); };
  const F b = constant(s.b), least = constant(s.least), least_weight = constant(s.least_weight);
  const F n = to_float<T>(below.n(s));
  const F in = to_float<T>(block.n(s));
  const F rest = to_float<T>(all.n(s)) - n;
  I low = {}, high = {};
  for (int c = 0; c < (any ? s.n_columns : 1); c++) {
    const F a = constant(s.a + static_cast<std::size_t>(c) * s.lanes());
    const F p = to_float<T>(below.of[c]), gain = to_float<T>(block.of[c]);
    low |= reaches<kind>(p + gain, max(n + gain, least_weight), a, b, least);
    high |=
        reaches<kind>(to_float<T>(all.of[c]) - p, max(rest - in + gain, least_weight), a, b, least);
  }
  const I some = (low & (n + in >= least_weight)) | (high & (rest >= least_weight));
  return lanes_of(continued ? some : some & (in > 0.0f));
}

// Evaluates the cuts in a block for all lanes of a group. A lane without rows since the previous
// cut is skipped. "At most the last value" means that a value is present.
template <class T, Kind kind, bool any>
void evaluate_block(const Scan& s, std::size_t group, const Sums<T>& all, Sums<T> below,
                    std::size_t from, std::size_t to, bool continued) {
  auto last = below.n(s);  // exact, because differences of weights may be too small for float
  if (continued) last = decltype(last){};
  for (std::size_t i = from; i < to; i++) {
    const std::uint8_t* line = s.line(i);
    for (int c = 0; c < s.n_columns; c++) {
      const auto in = load<T>(line + static_cast<std::size_t>(c) * s.lanes() + group * W);
      below.of[c] += s.weights ? in * static_cast<T>(s.weights[s.rows[i]]) : in;
    }
    const std::uint32_t rank = s.ranks[s.rows[i]];
    if (i + 1 < s.n_rows && rank == s.ranks[s.rows[i + 1]]) continue;
    const auto n = below.n(s);
    const I moved = __builtin_convertvector(n > last, I);
    last = n;
    evaluate<T, kind, any>(s, group, below, moved, rules::at_most, rank);
    evaluate<T, kind, any>(s, group, minus(s, all, below), moved, rules::above, rank);
  }
}

// Evaluates the cuts in a block for one lane.
template <class T, Kind kind, bool any>
void evaluate_lane(const Scan& s, std::size_t group, std::size_t lane, const Sums<T>& all,
                   const Sums<T>& before, std::size_t from, std::size_t to, bool continued) {
  constexpr int room = 256;
  const int columns = any ? s.n_columns : 1;
  const std::size_t at = group * W + lane;
  const std::size_t lanes = s.lanes();
  T below[room], whole[room], n = 0, total = 0;
  for (int c = 0; c < s.n_columns; c++) {
    n += below[c] = before.of[c][lane];
    total += whole[c] = all.of[c][lane];
  }
  const float least_weight = s.least_weight[at], b = s.b[at];
  const auto consider = [&](std::int32_t op, std::uint32_t rank, const T* of, T covered) {
    if (static_cast<float>(covered) < least_weight ||
        (!s.weights && static_cast<float>(covered) >= s.whole[at]))
      return;
    bool reached = false;
    for (int c = 0; c < columns; c++)
      reached |= reaches<kind>(static_cast<float>(of[c]), static_cast<float>(covered),
                               s.a[static_cast<std::size_t>(c) * lanes + at], b, s.least[at]);
    if (!reached) return;
    double counts[room];
    for (int c = 0; c < columns; c++) counts[c] = static_cast<double>(of[c]);
    rules::offer(*s.bundle, at, s.feature, op, rank, static_cast<double>(covered), counts);
  };
  bool moved = continued;
  for (std::size_t i = from; i < to; i++) {
    const std::uint8_t* line = s.line(i) + at;
    for (int c = 0; c < s.n_columns; c++) {
      const std::uint8_t in = line[static_cast<std::size_t>(c) * lanes];
      const T weight = s.weights ? in * static_cast<T>(s.weights[s.rows[i]]) : static_cast<T>(in);
      below[c] += weight;
      n += weight;
      moved |= in != 0;
    }
    if (!moved) continue;
    const std::uint32_t rank = s.ranks[s.rows[i]];
    if (i + 1 < s.n_rows && rank == s.ranks[s.rows[i + 1]]) continue;
    moved = false;
    if (!(n > 0)) continue;
    consider(rules::at_most, rank, below, n);
    T above[room];
    for (int c = 0; c < columns; c++) above[c] = whole[c] - below[c];
    consider(rules::above, rank, above, total - n);
  }
}

// Evaluates a few cuts between blocks first, to get lower bounds on the best conditions of each
// lane: the higher the bounds, the fewer blocks must be evaluated.
template <class T, class Part, Kind kind, bool any>
void survey(const Scan& s, const T* all, const Part* parts, std::size_t n_blocks, T* below) {
  constexpr std::size_t most_cuts = 16;
  const std::size_t step = (n_blocks + most_cuts - 1) / most_cuts;
  F last[rules::max_groups] = {}, best[rules::max_groups][2];
  for (auto& sides : best) sides[0] = sides[1] = none();
  for (std::size_t k = 0; k + 1 < n_blocks; k++) {
    add(s, parts + k * s.stride(), below);
    const std::size_t end = (k + 1) * block_rows;
    if (k % step || s.ranks[s.rows[end - 1]] == s.ranks[s.rows[end]]) continue;
    for (std::size_t group = 0; group < static_cast<std::size_t>(s.n_groups); group++) {
      const auto before = sums_at<T>(s, below, group);
      const auto after = minus(s, sums_at<T>(s, all, group), before);
      const F n = to_float<T>(before.n(s)), least_weight = load<float>(s.least_weight + group * W);
      const I moved = n > last[group];
      last[group] = n;
      for (int side = 0; side < 2; side++) {
        const auto& sums = side == 0 ? before : after;
        const F covered = to_float<T>(sums.n(s));
        I valid = moved & (covered >= least_weight) & (covered < load<float>(s.whole + group * W));
        if constexpr (!any) valid &= to_float<T>(sums.of[0]) > 0.0f;
        const F value = score<T, kind, any>(s, group, sums, covered);
        best[group][side] = max(best[group][side], valid ? value : none());
      }
    }
  }
  for (std::size_t group = 0; group < static_cast<std::size_t>(s.n_groups); group++)
    for (const F& value : best[group]) insert(s.reached + group * W, s.width, s.lanes(), value);
  std::memset(below, 0, sizeof(T) * s.stride());
  for (std::size_t k = 0; k < s.lanes(); k += W)
    store(s.least + k,
          max(load<float>(s.least + k), load<float>(s.reached + k) - load<float>(s.tolerance + k)));
}

template <class T, class Part, Kind kind, bool any> void numeric(const Scan& s) {
  T* all = static_cast<T*>(s.room);
  T* below = all + s.stride();
  Part* parts = reinterpret_cast<Part*>(below + s.stride());
  std::memset(all, 0, 2 * sizeof(T) * s.stride());
  const std::size_t n_blocks = (s.n_rows + block_rows - 1) / block_rows;
  const auto end = [&](std::size_t k) {
    return k + 1 == n_blocks ? s.n_rows : (k + 1) * block_rows;
  };
  for (std::size_t k = 0; k < n_blocks; k++) {
    add_rows(s, k * block_rows, end(k), parts + k * s.stride());
    add(s, parts + k * s.stride(), all);
  }
  if (s.reached) survey<T, Part, kind, any>(s, all, parts, n_blocks, below);
  for (std::size_t k = 0; k < n_blocks; k++) {
    const std::size_t from = k * block_rows, to = end(k);
    const Part* part = parts + k * s.stride();
    const bool continued = from > 0 && s.ranks[s.rows[from - 1]] == s.ranks[s.rows[from]];
    if (to == s.n_rows || s.ranks[s.rows[from]] != s.ranks[s.rows[to]])
      for (std::size_t group = 0; group < static_cast<std::size_t>(s.n_groups); group++) {
        const auto totals = sums_at<T>(s, all, group), before = sums_at<T>(s, below, group);
        const auto block = sums_at<T>(s, part, group);
        std::uint32_t lanes = promising<T, kind, any>(s, group, totals, before, block, continued);
        if (__builtin_popcount(lanes) > most_single)
          evaluate_block<T, kind, any>(s, group, totals, before, from, to, continued);
        else
          for (; lanes; lanes &= lanes - 1)
            evaluate_lane<T, kind, any>(s, group, static_cast<std::size_t>(__builtin_ctz(lanes)),
                                        totals, before, from, to, continued);
      }
    add(s, part, below);
  }
}

template <class T, class Part, Kind kind, bool any> void nominal(const Scan& s) {
  constexpr std::size_t most = 255;
  T* all = static_cast<T*>(s.room);
  Part* part = reinterpret_cast<Part*>(all + s.stride());
  T* sums = reinterpret_cast<T*>(part + s.stride());
  std::memset(all, 0, sizeof(T) * s.stride());
  std::size_t present = 0;
  for (std::uint32_t v = 0; v < s.n_values; v++) {
    if (s.ends[v + 1] == s.ends[v]) continue;
    T* own = sums + present++ * s.stride();
    std::memset(own, 0, sizeof(T) * s.stride());
    for (std::size_t from = s.ends[v]; from < s.ends[v + 1]; from += most) {
      add_rows(s, from, from + most < s.ends[v + 1] ? from + most : s.ends[v + 1], part);
      add(s, part, own);
    }
    add(s, own, all);
  }
  // all "equal" conditions before any "not equal": see rules::offer
  for (int op = rules::equal; op <= (s.unequal ? rules::unequal : rules::equal); op++) {
    present = 0;
    for (std::uint32_t v = 0; v < s.n_values; v++) {
      if (s.ends[v + 1] == s.ends[v]) continue;
      const T* line = sums + present++ * s.stride();
      for (std::size_t group = 0; group < static_cast<std::size_t>(s.n_groups); group++) {
        const auto own = sums_at<T>(s, line, group);
        const auto covered = op == rules::equal ? own : minus(s, sums_at<T>(s, all, group), own);
        evaluate<T, kind, any>(s, group, covered, to_float<T>(own.n(s)) > 0.0f, op, v);
      }
    }
  }
}

template <class T, class Part, Kind kind, bool any> void feature(const Scan& s) {
  s.ends ? nominal<T, Part, kind, any>(s) : numeric<T, Part, kind, any>(s);
}

template <class T, class Part> void of_kind(const Scan& s) {
  if (s.kind == Kind::ratio)
    s.any ? feature<T, Part, Kind::ratio, true>(s) : feature<T, Part, Kind::ratio, false>(s);
  if (s.kind == Kind::linear)
    s.any ? feature<T, Part, Kind::linear, true>(s) : feature<T, Part, Kind::linear, false>(s);
  if (s.kind == Kind::foil) feature<T, Part, Kind::foil, false>(s);
  if (s.kind == Kind::entropy) feature<T, Part, Kind::entropy, true>(s);
}

}  // namespace

void scan_feature(const Scan& s) {
  s.weights ? of_kind<double, double>(s) : of_kind<float, std::uint8_t>(s);
}

}  // namespace crosscut::CROSSCUT_LEVEL

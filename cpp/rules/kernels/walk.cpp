// A walk over the sorted rows of a feature, with the sums of 16 lanes up to every row.
//
// A condition covers n, of which p is in a class. By the Laplace or m-estimate it reaches a quality
// L if p - L n >= L b - a, and by weighted relative accuracy if p - a n >= L. That is one
// comparison per class and side of the cut, for all lanes. A cut that reaches a lane's best so far
// on its side raises the bound and is stored as an event. Events are evaluated exactly after all
// features, when most of them are below the bounds. Blocks of rows that cannot contain such a cut
// are skipped, see scan.cpp.
#include "walk_sums.hpp"

namespace crosscut::CROSSCUT_LEVEL {
namespace {

using rules::Kind;

constexpr std::size_t block_rows = rules::block_rows;

template <Kind kind, bool any> class Pass {
 public:
  explicit Pass(const Walk& walk)
      : s(walk),
        a{load<float>(s.a), load<float>(s.a + W)},
        b(load<float>(s.b)),
        whole(load<float>(s.whole)),
        tolerance(load<float>(s.tolerance)),
        least_weight(load<float>(s.least_weight)),
        least(load<float>(s.least)) {}

  // Evaluates a few conditions first, to get lower bounds on the best of each lane: the higher the
  // bounds, the fewer blocks must be evaluated.
  void survey() {
    s.ends ? survey_categories() : survey_blocks();
    store(s.least, least);
  }

  // Evaluates all conditions that might be among the best of a lane.
  void evaluate() {
    all = kept_sums(0);
    s.ends ? evaluate_categories() : evaluate_blocks();
    store(s.least, least);
  }

 private:
  static constexpr int classes = any ? 2 : 1;

  // Sets the bounds on p - slope n that a useful cut reaches, with slack for rounding in float.
  void set_bounds() {
    const F n = all.n();
    for (int side = 0; side < 2; side++) {
      // a ratio is never negative
      const F quality = kind == Kind::ratio ? max(wanted(side), F{}) : wanted(side);
      for (int c = 0; c < classes; c++) {
        const F slack = kind == Kind::ratio ? 1e-6f * (quality + 1.0f) * (n + a[c] + b + 1.0f)
                                            : 1e-6f * (n + 1.0f);
        const F reach = (kind == Kind::ratio ? quality * b - a[c] : quality) - slack;
        slope[side][c] = kind == Kind::ratio ? quality : a[c];
        bound[side][c] = side == 0 ? reach : all.p[c] - slope[side][c] * n - reach;
      }
    }
    most_below = n - least_weight;
  }

  // The quality that a cut must reach to be among the best conditions and the best on its side.
  F wanted(int side) const { return max(least, best[side]); }

  // Whether there is no cut between two rows because their values are equal; `next` may be the end.
  bool is_tied(std::size_t i, std::size_t next) const {
    return s.tied && next < s.n_rows && s.ranks[s.rows[i]] == s.ranks[s.rows[next]];
  }

  // The lanes in which a cut might be among the best.
  std::uint32_t reaches(const Sums& below) const {
    const F n = below.n();
    I at_most = {}, above = {};
    for (int c = 0; c < classes; c++) {
      at_most |= below.p[c] - slope[0][c] * n >= bound[0][c];
      above |= below.p[c] - slope[1][c] * n <= bound[1][c];
    }
    if constexpr (!any) {  // a rule for a class must cover some of it
      at_most &= below.p[0] > 0.0f;
      above &= below.p[0] < all.p[0];
    }
    return lanes_of((at_most & (n >= least_weight)) | (above & (n <= most_below)));
  }

  // Whether a cut inside a block might be among the best of a lane. The lane must have rows in the
  // block, or earlier rows with the value of the block's first row (`own`).
  bool is_promising(const Sums& below, const Sums& block, std::uint32_t own) const {
    const F n = below.n(), in = block.n(), end = n + in;
    I at_most = {}, above = {};
    for (int c = 0; c < classes; c++) {
      const F low_n = max(n + block.p[c], least_weight), high_n = min(end - block.p[c], most_below);
      at_most |= below.p[c] + block.p[c] - slope[0][c] * low_n >= bound[0][c];
      above |= below.p[c] - slope[1][c] * high_n <= bound[1][c];
    }
    const std::uint32_t lanes =
        lanes_of((at_most & (end >= least_weight)) | (above & (n <= most_below)));
    return lanes & (lanes_of(in > 0.0f) | own | own >> 16);
  }

  std::size_t n_blocks() const { return (s.n_rows + block_rows - 1) / block_rows; }
  std::size_t end_of(std::size_t block) const {
    return (block + 1) * block_rows < s.n_rows ? (block + 1) * block_rows : s.n_rows;
  }
  std::uint8_t* octets_of(std::size_t block) const {
    return s.room + 2 * sizeof(Sums) + block * 2 * W;
  }

  Sums kept_sums(std::size_t k) const {
    Sums sums;
    std::memcpy(&sums, s.room + k * sizeof sums, sizeof sums);
    return sums;
  }
  void keep_sums(std::size_t k, const Sums& sums) const {
    std::memcpy(s.room + k * sizeof sums, &sums, sizeof sums);
  }

  // The best cuts of both sides use the memory of a second category's sums.
  void keep_best() const { std::memcpy(s.room + sizeof(Sums), best, sizeof best); }
  void load_best() { std::memcpy(best, s.room + sizeof(Sums), sizeof best); }

  // Sums the rows of each block, and evaluates the cuts between blocks.
  void survey_blocks() {
    for (std::size_t k = 0; k < n_blocks(); k++) {
      add_rows(s, k * block_rows, end_of(k), octets_of(k));
      all = all + sums_in(octets_of(k));
    }
    keep_sums(0, all);
    set_bounds();
    Sums below;
    F last{};
    for (std::size_t k = 0; k + 1 < n_blocks(); k++) {
      below = below + sums_in(octets_of(k));
      if (is_tied(end_of(k) - 1, end_of(k))) continue;
      const F n = below.n();
      const I own = n > last;
      last = n;
      if (!(reaches(below) & lanes_of(own))) continue;
      improve(0, value_of(below, n), own & is_valid(below));
      const Sums above = all - below;
      improve(1, value_of(above, above.n()), own & is_valid(above));
      set_bounds();
    }
    keep_best();
    raise_by_best(s.surveyed);
  }

  void evaluate_blocks() {
    load_best();
    set_bounds();
    Sums below;
    std::uint32_t own = 0;  // lanes that have rows after the last cut
    for (std::size_t k = 0; k < n_blocks(); k++) {
      const std::size_t from = k * block_rows, to = end_of(k);
      const Sums block = sums_in(octets_of(k));
      if (!is_promising(below, block, own)) {
        below = below + block;
        own = 0;
        for (std::size_t i = to; i-- > from && is_tied(i, to);) own |= s.masks[s.rows[i]];
        continue;
      }
      for (std::size_t i = from; i < to; i++) {
        const std::uint32_t mask = s.masks[s.rows[i]];
        below.add(mask);
        own |= mask;
        if (is_tied(i, i + 1)) continue;
        own |= own >> 16;
        if (reaches(below) & own) [[unlikely]] {
          const Sums copy = below;  // so that `below` stays in registers
          evaluate_cut(s.ranks[s.rows[i]], copy, own);
        }
        own = 0;
      }
    }
    raise_by_best(s.reached);
  }

  // Evaluates a cut in the lanes that have rows between the previous cut and this one.
  [[gnu::noinline]] void evaluate_cut(std::uint32_t rank, const Sums& below, std::uint32_t own) {
    const I lanes = plus(F{}, own & 0xffff) > 0.0f;
    keep(rules::at_most, rank, below, lanes, wanted(0));
    keep(rules::above, rank, all - below, lanes, wanted(1));
    set_bounds();
  }

  void survey_categories() {
    std::size_t present = 0;
    for (std::uint32_t v = 0; v < s.n_values; v++) {
      if (s.ends[v + 1] == s.ends[v]) continue;
      const Sums own = sums_of(s, s.ends[v], s.ends[v + 1]);
      keep_sums(++present, own);
      all = all + own;
      const F n = own.n(), value = value_of(own, n);
      raise(s.surveyed, value, (n > 0.0f) & is_valid(own) & (value >= least));
    }
    keep_sums(0, all);
  }

  void evaluate_categories() {
    // all "equal" conditions before any "not equal": see rules::offer
    for (int op = rules::equal; op <= (s.unequal ? rules::unequal : rules::equal); op++) {
      std::size_t present = 0;
      for (std::uint32_t v = 0; v < s.n_values; v++) {
        if (s.ends[v + 1] == s.ends[v]) continue;
        const Sums own = kept_sums(++present);
        keep(op, v, op == rules::equal ? own : all - own, own.n() > 0.0f, least);
      }
    }
  }

  F value_of(const Sums& covered, F n) const {
    return quality_of<kind>(
        classes, [&](int c) { return covered.p[c]; }, [&](int c) { return a[c]; }, n, b);
  }

  I is_valid(const Sums& covered) const {
    const F n = covered.n();
    const I valid = (n >= least_weight) & (n < whole);
    return any ? valid : valid & (covered.p[0] > 0.0f);
  }

  // Keeps a condition if it reaches the bound in some lanes.
  void keep(std::int32_t op, std::uint32_t rank, const Sums& covered, I own, F least_wanted) {
    const F n = covered.n(), value = value_of(covered, n);
    const I better = own & is_valid(covered) & (value >= least_wanted);
    const std::uint32_t lanes = lanes_of(better);
    if (!lanes) return;
    rules::Event& event = rules::note(*s.bundle);
    event.feature = s.feature;
    event.op = op;
    event.group = s.group;
    event.rank = rank;
    event.lanes = lanes;
    std::memcpy(event.value, &value, sizeof value);
    std::memcpy(event.n, &n, sizeof n);
    std::memcpy(event.p, &covered.p[0], sizeof n);
    // "!=" may cover the same rows as "=" with another category, which must not count twice
    if (op == rules::equal) raise(s.reached, value, better);
    else if (op != rules::unequal) improve(op == rules::at_most ? 0 : 1, value, better);
  }

  // Raises the best value of a side in some lanes.
  void improve(int side, F value, I lanes) {
    best[side] = max(best[side], lanes ? value - tolerance : none());
  }

  // Only the best cut of each side of a feature counts as one of the best conditions.
  void raise_by_best(float* values) {
    for (int side = 0; side < 2; side++) raise(values, best[side] + tolerance, best[side] > none());
  }

  // Inserts values of some lanes into their best values, and raises the lower bounds.
  void raise(float* values, F value, I lanes) {
    insert(values, s.width, W, lanes ? value : none());
    least = max(least, load<float>(values) - tolerance);
  }

  const Walk& s;
  const F a[2], b, whole, tolerance, least_weight;
  F least;
  Sums all;
  F best[2] = {none(), none()};  // best values of cuts by side, less the tolerance
  F slope[2][classes], bound[2][classes], most_below;
};

template <class Do> void with_pass(const Walk& s, Do work) {
  if (s.kind == Kind::ratio)
    s.any ? work(Pass<Kind::ratio, true>(s)) : work(Pass<Kind::ratio, false>(s));
  else s.any ? work(Pass<Kind::linear, true>(s)) : work(Pass<Kind::linear, false>(s));
}

}  // namespace

void survey_feature(const Walk& s) {
  with_pass(s, [](auto pass) { pass.survey(); });
}

void walk_feature(const Walk& s) {
  with_pass(s, [](auto pass) { pass.evaluate(); });
}

}  // namespace crosscut::CROSSCUT_LEVEL

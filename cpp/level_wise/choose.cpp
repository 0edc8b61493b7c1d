// The best test of each task from the statistics of a bundle. Candidates and their order follow
// docs/semantics.md. Qualities are computed by the same formulas as in memory (Quality, or Contest
// for exact sums), so streams and memory give the same trees.
#define CROSSCUT_LEVEL \
  stream  // the namespace for this file's own copy of the search in nominal columns
#include "choose.hpp"

#include <memory>

#include "grow/exact/exact_nominal.hpp"

namespace crosscut {
namespace {

using namespace CROSSCUT_LEVEL;

// Statistics of one lane in one column: [bin][K] sums or [bin][T] digits of exact sums, and the
// rows per bin. The last bin is for missing values.
struct LaneColumn {
  int bins = 0;  // including the bin of missing values
  std::vector<double> table;
  std::vector<i64> digits;
  std::vector<i64> n;
};

class Chooser {
  struct Sums {
    i64 n_rows;
    std::vector<double> stats;
    std::vector<i64> digits;
  };
  const ChoiceProblem& problem;
  Problem p{};
  Run run;
  LevelCounts counts{};  // unused
  Arena arena;
  int K, T;  // T: digits of exact sums of a node; 0 if rows are counted

  static Problem make(const ChoiceProblem& c) {
    Problem result{};
    result.criterion = c.criterion;
    result.n_classes = c.n_classes;
    result.multiway = c.multiway;
    result.exact = c.exact;
    return result;
  }

 public:
  explicit Chooser(const ChoiceProblem& c)
      : problem(c), p(make(c)), run(p), K(run.K()), T(c.counted ? 0 : p.n_sums()) {}

  template <class Cell>
  void read(const Cell* cells, int bins, int L, int lane, LaneColumn& out) const {
    const int C = problem.shape.n_channels;
    out.bins = bins;
    out.table.assign(static_cast<std::size_t>(bins * K), 0.0);
    out.n.assign(static_cast<std::size_t>(bins), 0);
    out.digits.clear();
    std::vector<i64> sums(static_cast<std::size_t>(C));
    for (int b = 0; b < bins; b++) {
      for (int c = 0; c < C; c++, cells += L)
        sums[static_cast<std::size_t>(c)] = static_cast<i64>(cells[lane]);
      double* s = out.table.data() + b * K;
      i64& n = out.n[static_cast<std::size_t>(b)];
      if (T) {
        n = sums[0];
        out.digits.insert(out.digits.end(), sums.begin() + 1, sums.end());
        continue;
      }
      for (int c = 0; c < K; c++) {
        s[c] = static_cast<double>(sums[static_cast<std::size_t>(c)]);
        n += sums[static_cast<std::size_t>(c)];
      }
    }
  }

  Sums empty() const {
    return {0, std::vector<double>(static_cast<std::size_t>(K)),
            std::vector<i64>(static_cast<std::size_t>(T))};
  }

  // Starts a lane: sums up its node from any column.
  void start(const LaneColumn& column, Choice& best) {
    node = empty();
    for (int b = 0; b < column.bins; b++) add(node, column, b);
    best.node = shown(node);
    best.quality = kNever;
    best.weight = T ? exact_weight(p, node.digits.data()) : run.quality.total(node.stats.data());
    contest = T ? std::make_unique<Contest>(p, node.digits.data()) : nullptr;
  }

  void look(const LaneColumn& column, int f, i64 min_leaf, Choice& best) {
    if (problem.nominal[f]) look_nominal(column, f, min_leaf, best);
    else look_numeric(column, f, min_leaf, best);
  }

  void finish(Choice& best) {
    if (best.feature < 0) return;
    if (T) {
      const double q = contest->quality(best.above, best.below);
      if (best.above.empty()) best.quality = q;
      std::vector<i64> digits;
      for (const Sums& branch : branches)
        digits.insert(digits.end(), branch.digits.begin(), branch.digits.end());
      best.improvement = contest->improvement(digits.data(), static_cast<int>(branches.size()));
    } else {
      double sum = 0;
      for (const Sums& branch : branches) sum += run.quality.branch(branch.stats.data());
      best.improvement = run.quality.improvement(node.stats.data(), best.quality, sum);
    }
    best.branches.clear();
    for (const Sums& branch : branches) best.branches.push_back(shown(branch));
  }

 private:
  Sums node;
  std::vector<Sums> branches;  // of the best test
  std::unique_ptr<Contest> contest;

  void add(Sums& to, const LaneColumn& column, int b) const {
    to.n_rows += column.n[static_cast<std::size_t>(b)];
    for (int c = 0; c < K && !T; c++)
      to.stats[static_cast<std::size_t>(c)] += column.table[static_cast<std::size_t>(b * K + c)];
    for (int d = 0; d < T; d++)
      to.digits[static_cast<std::size_t>(d)] += column.digits[static_cast<std::size_t>(b * T + d)];
  }
  Sums without(const Sums& left) const {
    Sums right = node;
    right.n_rows -= left.n_rows;
    for (int c = 0; c < K; c++)
      right.stats[static_cast<std::size_t>(c)] -= left.stats[static_cast<std::size_t>(c)];
    for (int d = 0; d < T; d++)
      right.digits[static_cast<std::size_t>(d)] -= left.digits[static_cast<std::size_t>(d)];
    return right;
  }
  Branch shown(const Sums& sums) const {
    if (!T) return {sums.n_rows, sums.stats};
    if (!p.n_classes) return {sums.n_rows, {exact_weight(p, sums.digits.data())}};
    Branch out{sums.n_rows, {}};
    for (int c = 0; c < K; c++)
      out.stats.push_back(exact_value(p.exact.grid[0], sums.digits.data() + c * p.exact.grid[0].n));
    return out;
  }

  // Whether a test is better than all before. Ties go to the earlier candidate.
  bool better(const Sums& left, Choice& best) {
    if (T) {
      std::vector<i64> both = left.digits;
      for (int d = 0; d < T; d++)
        both.push_back(node.digits[static_cast<std::size_t>(d)] -
                       left.digits[static_cast<std::size_t>(d)]);
      return contest->offer(both.data(), 2);
    }
    const double q = run.quality.binary(left.stats.data(), node.stats.data());
    if (!(q > best.quality)) return false;
    best.quality = q;
    return true;
  }

  void look_numeric(const LaneColumn& column, int f, i64 min_leaf, Choice& best) {
    const int bins = column.bins - 1;
    const i64 missing = column.n[static_cast<std::size_t>(bins)];
    Sums left = empty();
    const auto offer = [&](int cut, int missing_branch) {
      if (left.n_rows < min_leaf || node.n_rows - left.n_rows < min_leaf || !better(left, best))
        return;
      best.feature = f;
      best.cut = cut;
      branches = {left, without(left)};
      best.missing = missing_branch >= 0                ? missing_branch
                     : left.n_rows > branches[1].n_rows ? 0
                                                        : 1;
      best.branch_of.assign(static_cast<std::size_t>(column.bins), 1);
      std::fill_n(best.branch_of.begin(), cut == bins ? bins : cut + 1, 0);
      best.branch_of.back() = missing_branch;
    };
    const auto cuts = [&](int missing_branch) {
      i64 later = node.n_rows - missing;
      for (int b = 0; b < bins; b++) {
        const i64 rows = column.n[static_cast<std::size_t>(b)];
        if (!rows) continue;
        add(left, column, b);
        later -= rows;
        if (later) offer(b, missing_branch);
      }
    };
    cuts(missing ? 1 : -1);
    if (!missing || missing == node.n_rows) return;
    offer(bins, 1);  // present | missing
    left = empty();
    add(left, column, bins);
    cuts(0);
  }

  void look_nominal(const LaneColumn& column, int f, i64 min_leaf, Choice& best) {
    const int V = column.bins;
    std::vector<std::int32_t> map(static_cast<std::size_t>(V));
    if (T) {
      const Categories categories{column.digits.data(), column.n.data(), V,
                                  node.digits.data(),   node.n_rows,     min_leaf};
      if (!offer_nominal(p, categories, NoGridSums{}, arena, *contest, map.data())) return;
    } else {
      Node all{};
      all.n_rows = node.n_rows;
      all.stats = node.stats.data();
      const NominalChoice choice = choose_nominal(run, counts, column.table.data(), column.n.data(),
                                                  V, all, min_leaf, arena);
      if (!(choice.q > best.quality)) return;
      const auto mark = arena.mark();
      NominalColumn(run, nullptr, column.table.data(), column.n.data(), V, arena)
          .branches(choice.key, map.data(), V);
      arena.release(mark);
      best.quality = choice.q;
    }
    best.feature = f;
    best.cut = -1;
    best.branch_of = map;
    const int n_branches = 1 + *std::max_element(map.begin(), map.end());
    branches.assign(static_cast<std::size_t>(n_branches), empty());
    for (int v = 0; v < V; v++)
      if (map[static_cast<std::size_t>(v)] >= 0)
        add(branches[static_cast<std::size_t>(map[static_cast<std::size_t>(v)])], column, v);
    best.missing = map.back();
    if (best.missing >= 0) return;
    best.missing = 0;
    for (int b = 1; b < n_branches; b++) {
      const i64 most = branches[static_cast<std::size_t>(best.missing)].n_rows,
                n = branches[static_cast<std::size_t>(b)].n_rows;
      if (problem.multiway ? n > most : n >= most) best.missing = b;
    }
  }
};

}  // namespace

template <class T>
std::vector<Choice> choose_tests(const ChoiceProblem& problem, const T* statistics, int first,
                                 int end, int L, const std::int64_t* min_leaf) {
  Chooser chooser(problem);
  LaneColumn column;
  std::vector<Choice> choices(static_cast<std::size_t>(L));
  const std::size_t bin = static_cast<std::size_t>(L * problem.shape.n_channels);
  for (int lane = 0; lane < L; lane++) {
    Choice& best = choices[static_cast<std::size_t>(lane)];
    for (int f = first; f < end; f++) {
      const std::int64_t at = problem.shape.first_bin[f];
      chooser.read(statistics + static_cast<std::size_t>(at - problem.shape.first_bin[first]) * bin,
                   static_cast<int>(problem.shape.first_bin[f + 1] - at), L, lane, column);
      if (f == first) chooser.start(column, best);
      chooser.look(column, f, min_leaf[lane], best);
    }
    chooser.finish(best);
  }
  return choices;
}

template std::vector<Choice> choose_tests(const ChoiceProblem&, const std::int32_t*, int, int, int,
                                          const std::int64_t*);
template std::vector<Choice> choose_tests(const ChoiceProblem&, const std::int64_t*, int, int, int,
                                          const std::int64_t*);

}  // namespace crosscut

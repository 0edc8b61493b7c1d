// Candidates and their order follow docs/semantics.md; the choice is made by Judge, as everywhere.
#define CROSSCUT_LEVEL stream  // the namespace for this file's own copy of the search in nominal columns
#include "choose.hpp"

#include "../grow/nominal.hpp"

namespace crosscut {
namespace {

using namespace CROSSCUT_LEVEL;

// One lane's statistics of one column: [bin][K] and the rows per bin; the last bin is for missing values.
struct LaneColumn {
  int bins = 0;  // with the missing one
  std::vector<double> table;
  std::vector<i64> n;
};

class Chooser {
  const ChoiceProblem& problem;
  Problem p{};
  Run run;
  Arena arena;
  int K;

  static Problem make(const ChoiceProblem& c) {
    Problem made{};
    made.criterion = c.criterion, made.n_classes = c.n_classes, made.multiway = c.multiway;
    return made;
  }

 public:
  explicit Chooser(const ChoiceProblem& c) : problem(c), p(make(c)), run(p), K(run.K()) {}

  template <class T>
  void read(const T* cells, int bins, int L, bool mixed, int lane, LaneColumn& out) const {
    const int C = problem.shape.n_channels, width = n_cells(L, mixed);
    out.bins = bins;
    out.table.assign(static_cast<std::size_t>(bins * K), 0.0), out.n.assign(static_cast<std::size_t>(bins), 0);
    std::vector<i64> sums(static_cast<std::size_t>(C));
    for (int b = 0; b < bins; b++) {
      for (int c = 0; c < C; c++) {
        const T* cell = cells + (static_cast<std::size_t>(b) * static_cast<std::size_t>(C) + static_cast<std::size_t>(c)) * static_cast<std::size_t>(width);
        i64 sum = -static_cast<i64>(cell[lane]);
        for (int j = 0; j <= L; j++) sum += cell[j];
        if (mixed) sum += cell[L + 1 + lane];
        sums[static_cast<std::size_t>(c)] = sum;
      }
      double* s = out.table.data() + b * K;
      i64& n = out.n[static_cast<std::size_t>(b)];
      if (problem.counted)
        for (int c = 0; c < K; c++) s[c] = static_cast<double>(sums[static_cast<std::size_t>(c)]), n += sums[static_cast<std::size_t>(c)];
      else if (problem.n_classes)
        for (int c = 0; c < K; c++) s[c] = static_cast<double>(sums[static_cast<std::size_t>(c) + 1]), n = sums[0];
      else
        n = sums[0], s[0] = static_cast<double>(sums[1]), s[1] = static_cast<double>(sums[problem.weighted ? 2 : 0]);
    }
  }

  Branch total(const LaneColumn& column) const {
    Branch out{0, std::vector<double>(static_cast<std::size_t>(K))};
    for (int b = 0; b < column.bins; b++) add(out, column, b);
    return out;
  }

  void look(const LaneColumn& column, int f, i64 min_leaf, Choice& best) {
    if (problem.nominal[f]) look_nominal(column, f, min_leaf, best);
    else look_numeric(column, f, min_leaf, best);
  }

 private:
  void add(Branch& to, const LaneColumn& column, int b) const {
    to.n_rows += column.n[static_cast<std::size_t>(b)];
    for (int c = 0; c < K; c++) to.stats[static_cast<std::size_t>(c)] += column.table[static_cast<std::size_t>(b * K + c)];
  }

  void look_numeric(const LaneColumn& column, int f, i64 min_leaf, Choice& best) {
    const int bins = column.bins - 1;
    const i64 missing = column.n[static_cast<std::size_t>(bins)];
    Branch left{0, std::vector<double>(static_cast<std::size_t>(K))};
    const auto offer = [&](int cut, int missing_branch) {
      if (left.n_rows < min_leaf || best.node.n_rows - left.n_rows < min_leaf) return;
      const double q = run.judge.binary(left.stats.data(), best.node.stats.data());
      if (!(q > best.quality)) return;  // of equally good candidates, the first one wins
      best.quality = q, best.feature = f, best.cut = cut;
      Branch right = best.node;
      right.n_rows -= left.n_rows;
      for (int c = 0; c < K; c++) right.stats[static_cast<std::size_t>(c)] -= left.stats[static_cast<std::size_t>(c)];
      best.branches = {left, right};
      best.missing = missing_branch >= 0 ? missing_branch : left.n_rows > right.n_rows ? 0 : 1;
      best.branch_of.assign(static_cast<std::size_t>(column.bins), 1);
      std::fill_n(best.branch_of.begin(), cut == bins ? bins : cut + 1, 0);
      best.branch_of.back() = missing_branch;
    };
    const auto cuts = [&](int missing_branch) {
      i64 later = best.node.n_rows - missing;
      for (int b = 0; b < bins; b++) {
        const i64 own = column.n[static_cast<std::size_t>(b)];
        if (!own) continue;
        add(left, column, b);
        if (later -= own) offer(b, missing_branch);
      }
    };
    cuts(missing ? 1 : -1);
    if (!missing || missing == best.node.n_rows) return;
    offer(bins, 1);  // present | missing
    left = {0, std::vector<double>(static_cast<std::size_t>(K))};
    add(left, column, bins);
    cuts(0);
  }

  void look_nominal(const LaneColumn& column, int f, i64 min_leaf, Choice& best) {
    const int V = column.bins;
    std::vector<std::int32_t> map(static_cast<std::size_t>(V));
    Node node{};
    node.n_rows = best.node.n_rows, node.stats = best.node.stats.data();
    const NominalChoice choice = choose_nominal(run, column.table.data(), column.n.data(), V, node, min_leaf, arena, map.data());
    if (!(choice.q > best.quality)) return;
    best.quality = choice.q, best.feature = f, best.cut = -1;
    best.branch_of = map;
    const int n_branches = 1 + *std::max_element(map.begin(), map.end());
    best.branches.assign(static_cast<std::size_t>(n_branches), Branch{0, std::vector<double>(static_cast<std::size_t>(K))});
    for (int v = 0; v < V; v++)
      if (map[static_cast<std::size_t>(v)] >= 0) add(best.branches[static_cast<std::size_t>(map[static_cast<std::size_t>(v)])], column, v);
    best.missing = map.back();
    if (best.missing >= 0) return;
    best.missing = 0;
    for (int b = 1; b < n_branches; b++) {
      const i64 most = best.branches[static_cast<std::size_t>(best.missing)].n_rows, n = best.branches[static_cast<std::size_t>(b)].n_rows;
      if (problem.multiway ? n > most : n >= most) best.missing = b;
    }
  }

 public:
  void judge_improvement(Choice& best) const {
    if (best.feature < 0) return;
    double sum = 0;  // gain ratio's improvement is the entropy gain
    for (const Branch& branch : best.branches) sum += run.judge.branch(branch.stats.data());
    best.improvement = run.judge.improvement(best.node.stats.data(), best.quality, sum);
  }
};

}  // namespace

template <class T>
std::vector<Choice> choose_tests(const ChoiceProblem& problem, const T* statistics, int first, int end, int L, bool mixed, const std::int64_t* min_leaf) {
  Chooser chooser(problem);
  LaneColumn column;
  std::vector<Choice> choices(static_cast<std::size_t>(L));
  const std::size_t bin = static_cast<std::size_t>(n_cells(L, mixed) * problem.shape.n_channels);
  for (int lane = 0; lane < L; lane++) {
    Choice& best = choices[static_cast<std::size_t>(lane)];
    best.quality = kNever;
    for (int f = first; f < end; f++) {
      const std::int64_t at = problem.shape.first_bin[f];
      chooser.read(statistics + static_cast<std::size_t>(at - problem.shape.first_bin[first]) * bin,
                   static_cast<int>(problem.shape.first_bin[f + 1] - at), L, mixed, lane, column);
      if (f == first) best.node = chooser.total(column);
      chooser.look(column, f, min_leaf[lane], best);
    }
    chooser.judge_improvement(best);
  }
  return choices;
}

template std::vector<Choice> choose_tests(const ChoiceProblem&, const std::int32_t*, int, int, int, bool, const std::int64_t*);
template std::vector<Choice> choose_tests(const ChoiceProblem&, const std::int64_t*, int, int, int, bool, const std::int64_t*);

}  // namespace crosscut

// Prunes a grown tree as TILDE (C4.5) does, and routes the examples that its task held out.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/additional_errors.hpp"
#include "growth.hpp"

namespace crosscut::query {

namespace {

constexpr std::size_t most_row_bytes = 1 << 25;  // of truth that is kept while examples are routed

class Pruner {
 public:
  Pruner(const Tree& tree, std::size_t width)
      : prediction(tree.prediction), leaf(tree.size()), tree_(tree), width_(width) {
    for (std::size_t i = 0; i < tree.size(); i++) leaf[i] = tree.test[i] < 0;
  }

  void merge(std::size_t node) {
    if (leaf[node]) return;
    const std::size_t yes = node + 1, no = static_cast<std::size_t>(tree_.no[node]);
    merge(yes);
    merge(no);
    if (leaf[yes] && leaf[no] && prediction[yes] == prediction[no]) {
      leaf[node] = true;
      prediction[node] = prediction[yes];
    }
  }

  // Turns nodes into leaves if C4.5 does not expect fewer errors of their subtrees; returns the
  // errors it expects.
  double replace(std::size_t node, double confidence) {
    const double* counts = tree_.statistics.data() + node * width_;
    const double n = std::accumulate(counts, counts + width_, 0.0);
    const double errors = n - counts[static_cast<std::size_t>(prediction[node])];
    const double as_leaf = n > 0 ? errors + additional_errors(n, errors, confidence) : 0.0;
    if (leaf[node]) return as_leaf;
    const double below = replace(node + 1, confidence) +
                         replace(static_cast<std::size_t>(tree_.no[node]), confidence);
    if (as_leaf > below) return below;
    leaf[node] = true;
    return as_leaf;
  }

  Tree pruned() const {
    Tree result;
    copy(0, result);
    return result;
  }

  std::vector<double> prediction;
  std::vector<char> leaf;

 private:
  void copy(std::size_t node, Tree& result) const {
    const std::size_t at = result.size();
    result.test.push_back(leaf[node] ? -1 : tree_.test[node]);
    result.no.push_back(-1);
    result.prediction.push_back(prediction[node]);
    const auto begin = tree_.statistics.begin() + static_cast<std::ptrdiff_t>(node * width_);
    result.statistics.insert(result.statistics.end(), begin,
                             begin + static_cast<std::ptrdiff_t>(width_));
    if (leaf[node]) return;
    copy(node + 1, result);
    result.no[at] = static_cast<std::int32_t>(result.size());
    copy(static_cast<std::size_t>(tree_.no[node]), result);
  }

  const Tree& tree_;
  std::size_t width_;
};

}  // namespace

Tree prune(const Tree& tree, std::size_t width, bool pessimistic, double confidence) {
  Pruner pruner(tree, width);
  pruner.merge(0);
  if (pessimistic) pruner.replace(0, confidence);
  return pruner.pruned();
}

void split(const Test& test, Truth& truth, const Attributes& attributes,
           const std::vector<std::uint64_t>& own, std::vector<std::uint64_t>& yes,
           std::vector<std::uint64_t>& no) {
  if (test.query < 0) {
    attributes.split(test.cut, test.threshold, own, yes, no);
    return;
  }
  truth.evaluate({&test.query, 1},
                 own.data());  // without a cache, other bundles may have discarded it
  const std::uint64_t* holds = truth.row(test.query);
  yes.resize(own.size());
  no.resize(own.size());
  for (std::size_t w = 0; w < own.size(); w++) {
    yes[w] = own[w] & holds[w];
    no[w] = own[w] & ~holds[w];
  }
}

void route(const Tree& tree, const std::vector<Test>& tests, Truth& truth,
           const Attributes& attributes, const std::vector<std::uint64_t>& reached,
           double* predictions, std::int32_t* leaves) {
  const auto walk = [&](auto& self, std::size_t node,
                        const std::vector<std::uint64_t>& here) -> void {
    std::uint64_t any = 0;
    for (std::uint64_t word : here) any |= word;
    if (!any) return;
    if (tree.test[node] < 0) {
      for (std::size_t w = 0; w < here.size(); w++)
        for (std::uint64_t set = here[w]; set; set &= set - 1) {
          const std::size_t e = w * 64 + static_cast<std::size_t>(std::countr_zero(set));
          predictions[e] = tree.prediction[node];
          leaves[e] = static_cast<std::int32_t>(node);
        }
      return;
    }
    // a tree has many tests, and few of its examples reach each of them
    if (truth.row_bytes() > most_row_bytes) truth.forget_rows();
    std::vector<std::uint64_t> yes, no;
    split(tests[static_cast<std::size_t>(tree.test[node])], truth, attributes, here, yes, no);
    self(self, node + 1, yes);
    self(self, static_cast<std::size_t>(tree.no[node]), no);
  };
  walk(walk, 0, reached);
}

}  // namespace crosscut::query

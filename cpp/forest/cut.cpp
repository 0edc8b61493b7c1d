// Losses of rows in all pruned trees at once. Every pruned tree is part of the larger one: a row
// ends at the highest ancestor of its leaf that is no longer an inner node. So one walk from the
// leaf to the root gives the losses at all levels.
#include <algorithm>
#include <vector>

#include "prune.hpp"

namespace crosscut {
namespace {

std::int64_t cell(double y, double predicted, std::int64_t n_classes) {
  return static_cast<std::int64_t>(y) * n_classes + static_cast<std::int64_t>(predicted);
}

}  // namespace

void cut_losses(const Trees& trees, const Levels& levels, const Ends& ends, const Losses& losses,
                double* sum, double* sum_of_squares) {
  const std::int64_t n = levels.n_levels;
  // The loss of a row is constant between the levels of two neighbours on its path: store the
  // changes and add them up at the end.
  std::vector<long double> change(static_cast<std::size_t>(n) + 1),
      change_of_squares(static_cast<std::size_t>(n) + 1);
  std::vector<std::int32_t> parent;
  for (std::int64_t t = 0; t < trees.n_trees; t++) {
    if (ends.row_start[t] == ends.row_start[t + 1]) continue;
    parent.resize(static_cast<std::size_t>(trees.n_nodes(t)));
    parents(trees, t, parent.data());
    const std::int32_t* level = levels.level + trees.node_start[t];
    const double* prediction = losses.prediction + trees.node_start[t];
    for (std::int64_t r = ends.row_start[t]; r < ends.row_start[t + 1]; r++) {
      const double w = losses.weight ? losses.weight[r] : 1.0;
      std::int64_t from = 0;
      for (std::int32_t node = ends.leaf[r]; node >= 0 && from < n;
           node = parent[static_cast<std::size_t>(node)]) {
        const std::int32_t above = parent[static_cast<std::size_t>(node)];
        const std::int64_t to = above < 0 ? n : std::min<std::int64_t>(n, level[above]);
        if (to <= from) continue;
        const double error = losses.y[r] - prediction[node];
        const double loss = losses.cost
                                ? losses.cost[cell(losses.y[r], prediction[node], losses.n_classes)]
                                : error * error;
        change[static_cast<std::size_t>(from)] += w * loss;
        change[static_cast<std::size_t>(to)] -= w * loss;
        change_of_squares[static_cast<std::size_t>(from)] += w * loss * loss;
        change_of_squares[static_cast<std::size_t>(to)] -= w * loss * loss;
        from = to;
      }
    }
  }
  long double running = 0, running_of_squares = 0;
  for (std::int64_t k = 0; k < n; k++) {
    sum[k] = static_cast<double>(running += change[static_cast<std::size_t>(k)]);
    sum_of_squares[k] =
        static_cast<double>(running_of_squares += change_of_squares[static_cast<std::size_t>(k)]);
  }
}

}  // namespace crosscut

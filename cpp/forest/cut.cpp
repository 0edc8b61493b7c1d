// Every pruned tree is part of the larger one: a row ends at the highest ancestor of its leaf that
// is no longer an inner node. So one walk from the leaf to the root gives the losses at all levels,
// and the strengths of shrinkage are lanes of that walk.
#include "cut.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "prune.hpp"

namespace crosscut {
namespace {

using Lanes = std::array<double, kLanes>;

// 1 / (1 + λ / weight) for each strength.
Lanes factors(double weight, const double* lambda) {
  Lanes factor;
  for (int l = 0; l < kLanes; l++)
    factor[l] = lambda[l] > 0 && weight > 0 ? 1 / (1 + lambda[l] / weight) : lambda[l] > 0 ? 0 : 1;
  return factor;
}

// S(node) from S(parent). This form is exact if the factor is 1 and S(parent) = own(parent).
double towards(double parent, double factor, double own, double own_parent) {
  return factor * own + (parent - factor * own_parent);
}

// Computes losses along the paths of one tree after the other.
class Walk {
 public:
  Walk(const Trees& trees, const Levels& levels, const NodeValues& values, const Losses& losses)
      : trees_(trees), levels_(levels), values_(values), losses_(losses) {}

  void enter(std::int64_t t) {
    const std::size_t n = static_cast<std::size_t>(trees_.n_nodes(t));
    first_ = trees_.node_start[t];
    own_ = values_.own + first_ * values_.n_values;
    parent_.resize(n);
    parents(trees_, t, parent_.data());
    factor_.resize(n);
    for (std::size_t i = 0; i < n; i++)
      factor_[i] = factors(values_.weight[static_cast<std::size_t>(first_) + i], losses_.lambda);
    if (losses_.measure == Measure::log) return;
    summary_.resize(n);
    summarise(n);
  }

  // Calls use(from, to, loss) for the levels from .. to - 1 at which the row of class or target y
  // has the same losses.
  template <class Use> void visit(std::int32_t leaf, double y, const Use& use) {
    path_.clear();
    for (std::int32_t node = leaf; node >= 0; node = parent_[static_cast<std::size_t>(node)])
      path_.push_back(node);
    const bool needs_probability =
        losses_.measure == Measure::brier || losses_.measure == Measure::log;
    if (needs_probability) follow(static_cast<std::size_t>(y));
    std::int64_t from = 0;
    for (std::size_t step = 0; step < path_.size() && from < levels_.n_levels; step++) {
      const bool is_root = step + 1 == path_.size();
      const std::int64_t to =
          is_root
              ? levels_.n_levels
              : std::min<std::int64_t>(levels_.n_levels, levels_.level[first_ + path_[step + 1]]);
      if (to <= from) continue;
      use(from, to, loss_at(step, y));
      from = to;
    }
  }

 private:
  // Stores what all rows that end at a node share: its shrunk mean, the sum of its squared
  // probabilities, or the class it predicts. Nodes are in preorder, so the values of the ancestors
  // of a node are those last stored at their depths.
  void summarise(std::size_t n) {
    const std::size_t k = static_cast<std::size_t>(values_.n_values);
    depth_.resize(n);
    last_.clear();
    for (std::size_t i = 0; i < n; i++) {
      const std::int32_t up = parent_[i];
      const std::size_t depth = up < 0 ? 0 : depth_[static_cast<std::size_t>(up)] + 1;
      depth_[i] = depth;
      if (depth >= last_.size()) {
        last_.push_back(0);
        shrunk_.resize(last_.size() * k);
      }
      if (up >= 0 && last_[depth - 1] != up)
        throw std::invalid_argument("the nodes of a tree must be in preorder");
      last_[depth] = static_cast<std::int32_t>(i);
      Lanes* at = shrunk_.data() + depth * k;
      for (std::size_t c = 0; c < k; c++) {
        const double own = own_[i * k + c];
        if (up < 0) {
          at[c].fill(own);
          continue;
        }
        const double own_parent = own_[static_cast<std::size_t>(up) * k + c];
        const Lanes &parent = at[c - k], &factor = factor_[static_cast<std::size_t>(up)];
        for (int l = 0; l < kLanes; l++) at[c][l] = towards(parent[l], factor[l], own, own_parent);
      }
      summary_[i] = summary_of(at, k);
    }
  }

  Lanes summary_of(const Lanes* shrunk, std::size_t k) const {
    Lanes out{};
    if (losses_.measure == Measure::squared || losses_.measure == Measure::absolute)
      return shrunk[0];
    if (losses_.measure == Measure::brier) {
      for (std::size_t c = 0; c < k; c++)
        for (int l = 0; l < kLanes; l++) out[l] += shrunk[c][l] * shrunk[c][l];
      return out;
    }
    Lanes best;
    for (std::size_t c = 0; c < k; c++) {
      Lanes merit = shrunk[c];
      if (losses_.cost) {
        merit.fill(0);
        for (std::size_t y = 0; y < k; y++)
          for (int l = 0; l < kLanes; l++) merit[l] -= shrunk[y][l] * losses_.cost[y * k + c];
      }
      for (int l = 0; l < kLanes; l++) {
        if (c > 0 && !(merit[l] > best[l])) continue;
        best[l] = merit[l];
        out[l] = static_cast<double>(c);
      }
    }
    return out;
  }

  // Computes the probability of class y at every node of the path, from the root down.
  void follow(std::size_t y) {
    const std::size_t k = static_cast<std::size_t>(values_.n_values);
    probability_.resize(path_.size());
    for (std::size_t step = path_.size(); step-- > 0;) {
      const double own = own_[static_cast<std::size_t>(path_[step]) * k + y];
      if (step + 1 == path_.size()) {
        probability_[step].fill(own);
        continue;
      }
      const std::size_t up = static_cast<std::size_t>(path_[step + 1]);
      for (int l = 0; l < kLanes; l++)
        probability_[step][l] =
            towards(probability_[step + 1][l], factor_[up][l], own, own_[up * k + y]);
    }
  }

  Lanes loss_at(std::size_t step, double y) const {
    Lanes loss;
    if (losses_.measure == Measure::log) {
      for (int l = 0; l < kLanes; l++)
        loss[l] = -std::log(std::max(probability_[step][l], 0x1p-52));
      return loss;
    }
    const Lanes& summary = summary_[static_cast<std::size_t>(path_[step])];
    for (int l = 0; l < kLanes; l++) {
      if (losses_.measure == Measure::squared) {
        loss[l] = (y - summary[l]) * (y - summary[l]);
      } else if (losses_.measure == Measure::absolute) {
        loss[l] = std::abs(y - summary[l]);
      } else if (losses_.measure == Measure::brier) {
        loss[l] = std::max(0.0, summary[l] - 2 * probability_[step][l] + 1);
      } else if (losses_.cost) {
        loss[l] = losses_.cost[static_cast<std::int64_t>(y) * values_.n_values +
                               static_cast<std::int64_t>(summary[l])];
      } else {
        loss[l] = summary[l] != y;
      }
    }
    return loss;
  }

  const Trees& trees_;
  const Levels& levels_;
  const NodeValues& values_;
  const Losses& losses_;
  std::int64_t first_ = 0;  // node of all trees
  const double* own_ = nullptr;
  std::vector<std::int32_t> parent_, path_, last_;
  std::vector<std::size_t> depth_;
  std::vector<Lanes> factor_, summary_, shrunk_, probability_;
};

}  // namespace

void shrink(const Trees& trees, const NodeValues& values, double lambda, double* shrunk) {
  const std::int64_t k = values.n_values;
  std::vector<std::int32_t> parent;
  for (std::int64_t t = 0; t < trees.n_trees; t++) {
    const std::int64_t first = trees.node_start[t], n = trees.n_nodes(t);
    parent.resize(static_cast<std::size_t>(n));
    parents(trees, t, parent.data());
    for (std::int64_t i = 0; i < n; i++) {
      const double* own = values.own + (first + i) * k;
      double* out = shrunk + (first + i) * k;
      const std::int32_t up = parent[static_cast<std::size_t>(i)];
      if (up < 0) {
        std::copy_n(own, k, out);
        continue;
      }
      const double weight = values.weight[first + up];
      const double factor = lambda <= 0 ? 1 : weight > 0 ? 1 / (1 + lambda / weight) : 0;
      const std::int64_t back = (i - up) * k;
      for (std::int64_t c = 0; c < k; c++)
        out[c] = towards(out[c - back], factor, own[c], own[c - back]);
    }
  }
}

void cut_losses(const Trees& trees, const Levels& levels, const Ends& ends,
                const NodeValues& values, const Losses& losses, double* sum,
                double* sum_of_squares) {
  // Losses are constant between the levels of two neighbours on a path: store their changes and add
  // them up at the end.
  const std::size_t n = static_cast<std::size_t>(levels.n_levels);
  std::vector<Lanes> change(n + 1), change_of_squares(n + 1);
  Walk walk(trees, levels, values, losses);
  for (std::int64_t t = 0; t < trees.n_trees; t++) {
    if (ends.row_start[t] == ends.row_start[t + 1]) continue;
    walk.enter(t);
    for (std::int64_t r = ends.row_start[t]; r < ends.row_start[t + 1]; r++) {
      const double w = losses.weight ? losses.weight[r] : 1.0;
      walk.visit(ends.leaf[r], losses.y[r],
                 [&](std::int64_t from, std::int64_t to, const Lanes& loss) {
                   Lanes &begin = change[static_cast<std::size_t>(from)],
                         &end = change[static_cast<std::size_t>(to)];
                   Lanes &begin_squares = change_of_squares[static_cast<std::size_t>(from)],
                         &end_squares = change_of_squares[static_cast<std::size_t>(to)];
                   for (int l = 0; l < kLanes; l++) {
                     const double weighted = w * loss[l];
                     begin[l] += weighted;
                     end[l] -= weighted;
                     begin_squares[l] += weighted * loss[l];
                     end_squares[l] -= weighted * loss[l];
                   }
                 });
    }
  }
  Lanes running{}, running_of_squares{};
  for (std::size_t k = 0; k < n; k++)
    for (int l = 0; l < kLanes; l++) {
      const std::size_t at = k * kLanes + static_cast<std::size_t>(l);
      sum[at] = running[l] += change[k][l];
      sum_of_squares[at] = running_of_squares[l] += change_of_squares[k][l];
    }
}

void row_losses(const Trees& trees, const Levels& levels, const Ends& ends,
                const NodeValues& values, const Losses& losses, const std::int32_t* chosen_level,
                const std::int32_t* chosen_lane, std::int64_t n_chosen, double* loss) {
  Walk walk(trees, levels, values, losses);
  for (std::int64_t t = 0; t < trees.n_trees; t++) {
    if (ends.row_start[t] == ends.row_start[t + 1]) continue;
    walk.enter(t);
    for (std::int64_t r = ends.row_start[t]; r < ends.row_start[t + 1]; r++) {
      std::int64_t next = 0;  // chosen levels ascend
      walk.visit(ends.leaf[r], losses.y[r], [&](std::int64_t, std::int64_t to, const Lanes& at) {
        for (; next < n_chosen && chosen_level[next] < to; next++)
          loss[r * n_chosen + next] = at[static_cast<std::size_t>(chosen_lane[next])];
      });
    }
  }
}

}  // namespace crosscut

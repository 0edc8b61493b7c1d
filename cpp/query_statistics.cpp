#include "query_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dispatch.hpp"

CROSSCUT_DECLARE(void count_cells(const std::uint64_t*, std::size_t, const std::int32_t*, std::size_t, const query::Cell*,
                                  std::size_t, std::int32_t*))

namespace crosscut::query {

namespace {

// Qualities closer than this are equal: TILDE then looks at the length of the tests and at their order.
constexpr double tolerance = 1e-10;

}  // namespace

Statistics::Statistics(const Components& components, const Language& language, Target target,
                       std::vector<std::int32_t> folds)
    : components_(components),
      language_(language),
      target_(std::move(target)),
      words_((folds.size() + 63) / 64),
      folds_(std::move(folds)) {
  const std::size_t n = folds_.size();
  std::int32_t n_folds = 0;
  for (std::int32_t fold : folds_) n_folds = std::max(n_folds, fold + 1);
  class_bits_.assign(target_.n_classes, std::vector<std::uint64_t>(words_, 0));
  fold_bits_.assign(static_cast<std::size_t>(n_folds), std::vector<std::uint64_t>(words_, 0));
  for (std::size_t e = 0; e < n; e++) {
    const std::uint64_t bit = std::uint64_t{1} << (e % 64);
    if (target_.n_classes > 0) class_bits_[static_cast<std::size_t>(target_.codes[e])][e / 64] |= bit;
    if (folds_[e] >= 0) fold_bits_[static_cast<std::size_t>(folds_[e])][e / 64] |= bit;
  }
  for (const auto& fold : fold_bits_)
    for (const auto& members : class_bits_)
      for (std::size_t w = 0; w < words_; w++) fold_class_bits_.push_back(fold[w] & members[w]);
  x_log_x_.resize(n + 1, 0.0);
  for (std::size_t i = 2; i <= n; i++) x_log_x_[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
}

// A cell only spans the words that hold some of its examples.
Statistics::Cells Statistics::cells(const std::uint64_t* mask, std::span<const std::int32_t> tasks) const {
  Cells result;
  const std::size_t k = target_.n_classes;
  if (k == 0) return result;
  std::size_t n_folds = 0;
  for (std::int32_t fold : tasks) n_folds += fold >= 0;
  result.bits.resize((n_folds + 1) * k * words_);
  result.sets.reserve((n_folds + 1) * k);
  const auto add = [&](const std::uint64_t* members) {
    std::uint64_t* own = result.bits.data() + result.sets.size() * words_;
    Cell cell{own, words_, 0};
    for (std::size_t i = 0; i < words_; i++) {
      own[i] = mask[i] & members[i];
      if (own[i]) cell.begin = std::min(cell.begin, i), cell.end = i + 1;
    }
    result.sets.push_back(cell);
  };
  for (const auto& members : class_bits_) add(members.data());
  for (std::int32_t fold : tasks)
    for (std::size_t c = 0; fold >= 0 && c < k; c++)
      add(fold_class_bits_.data() + (static_cast<std::size_t>(fold) * k + c) * words_);
  return result;
}

// statistics[(query * tasks + task) * width ...]: of the examples of the task where the query is true.
void Statistics::count(std::span<const std::int32_t> queries, const Truth& truth, const std::uint64_t* mask,
                       std::span<const std::int32_t> tasks, const Cells& cells, std::vector<double>& statistics) const {
  const std::size_t w = width(), t = tasks.size();
  statistics.resize(queries.size() * t * w);
  if (target_.n_classes > 0) {
    const std::size_t n = cells.sets.size();
    std::vector<std::int32_t> counts(queries.size() * n);
    CROSSCUT_DISPATCH(count_cells, truth.row(0), words_, queries.data(), queries.size(), cells.sets.data(), n, counts.data());
    for (std::size_t q = 0; q < queries.size(); q++) {
      const std::int32_t* all = counts.data() + q * n;
      const std::int32_t* left_out = all + w;
      for (std::size_t i = 0; i < t; i++) {
        double* out = statistics.data() + (q * t + i) * w;
        for (std::size_t c = 0; c < w; c++) out[c] = tasks[i] < 0 ? all[c] : all[c] - left_out[c];
        left_out += tasks[i] < 0 ? 0 : w;
      }
    }
    return;
  }
  std::vector<double> per_fold(3 * (fold_bits_.size() + 1));
  for (std::size_t q = 0; q < queries.size(); q++) {
    std::fill(per_fold.begin(), per_fold.end(), 0.0);
    const std::uint64_t* row = truth.row(queries[q]);
    double* all = per_fold.data() + 3 * fold_bits_.size();
    for (std::size_t i = 0; i < words_; i++)
      for (std::uint64_t set = row[i] & mask[i]; set; set &= set - 1) {
        const std::size_t e = i * 64 + static_cast<std::size_t>(std::countr_zero(set));
        const double add[3] = {1.0, target_.values[e], target_.squares[e]};
        for (int k = 0; k < 3; k++) {
          all[k] += add[k];
          if (folds_[e] >= 0) per_fold[3 * static_cast<std::size_t>(folds_[e]) + static_cast<std::size_t>(k)] += add[k];
        }
      }
    for (std::size_t i = 0; i < t; i++)
      for (std::size_t k = 0; k < 3; k++)
        statistics[(q * t + i) * 3 + k] =
            all[k] - (tasks[i] < 0 ? 0.0 : per_fold[3 * static_cast<std::size_t>(tasks[i]) + k]);
  }
}

std::vector<double> Statistics::totals(const std::uint64_t* mask, std::span<const std::int32_t> tasks,
                                       const Cells& cells) const {
  const std::size_t w = width();
  std::vector<double> result(tasks.size() * w, 0.0);
  if (target_.n_classes > 0) {
    std::vector<std::int32_t> counts(cells.sets.size());
    const std::int32_t itself = 0;  // a cell is counted where it is true: everywhere
    for (std::size_t c = 0; c < counts.size(); c++)
      CROSSCUT_DISPATCH(count_cells, cells.sets[c].bits, words_, &itself, 1, &cells.sets[c], 1, &counts[c]);
    const std::int32_t* left_out = counts.data() + w;
    for (std::size_t i = 0; i < tasks.size(); i++) {
      for (std::size_t c = 0; c < w; c++) result[i * w + c] = tasks[i] < 0 ? counts[c] : counts[c] - left_out[c];
      left_out += tasks[i] < 0 ? 0 : w;
    }
    return result;
  }
  for (std::size_t i = 0; i < tasks.size(); i++)
    for (std::size_t word = 0; word < words_; word++) {
      const std::uint64_t own =
          tasks[i] < 0 ? mask[word] : mask[word] & ~fold_bits_[static_cast<std::size_t>(tasks[i])][word];
      for (std::uint64_t set = own; set; set &= set - 1) {
        const std::size_t e = word * 64 + static_cast<std::size_t>(std::countr_zero(set));
        result[i * w] += 1.0;
        result[i * w + 1] += target_.values[e];
        result[i * w + 2] += target_.squares[e];
      }
    }
  return result;
}

// What a test's quality needs to know of the node, computed once per node and task.
struct Statistics::Whole {
  std::vector<std::int32_t> counts;  // classes
  std::int32_t n = 0;
  double term = 0;                   // of the criterion: sum of x log x, of squares, or squared deviations
  double n_log_n = 0;
};

// Quality of a test from its integer statistics; -1 where it is not admissible. Gains are per example.
double Statistics::quality(const std::int32_t* yes, const Whole& whole, const Demand& demand) const {
  const std::size_t k = target_.n_classes;
  const std::int32_t* all = whole.counts.data();
  std::int32_t n_yes = 0;
  for (std::size_t c = 0; c < k; c++) n_yes += yes[c];
  const std::int32_t n_no = whole.n - n_yes;
  if (n_yes < demand.minimal_cases || n_no < demand.minimal_cases) return -1.0;
  if (demand.criterion == Criterion::gini) {
    double a = 0, b = 0;
    for (std::size_t c = 0; c < k; c++) {
      const double in = yes[c], out = all[c] - yes[c];
      a += in * in;
      b += out * out;
    }
    return (a / n_yes + b / n_no - whole.term / whole.n) / whole.n;
  }
  const auto x = [&](std::int32_t count) { return x_log_x_[static_cast<std::size_t>(count)]; };
  const double split = whole.n_log_n - x(n_yes) - x(n_no);
  double gain = split - whole.term;
  for (std::size_t c = 0; c < k; c++) gain += x(yes[c]) + x(all[c] - yes[c]);
  gain /= whole.n;
  if (demand.criterion == Criterion::gain || gain <= tolerance) return gain;
  return gain / (split / whole.n);
}

// The reduction of variance as a share of the node's squared deviations.
double Statistics::reduction(const double* yes, const double* all, const Demand& demand) const {
  const double n = all[0], n_yes = yes[0], n_no = n - n_yes;
  const double deviations = all[2] - all[1] * all[1] / n;
  if (n_yes < demand.minimal_cases || n_no < demand.minimal_cases || deviations <= 0) return -1.0;
  const double no = all[1] - yes[1];
  return (yes[1] * yes[1] / n_yes + no * no / n_no - all[1] * all[1] / n) / deviations;
}

void Statistics::leave_out(std::int32_t fold, std::vector<std::uint64_t>& mask) const {
  const auto& out = fold_bits_[static_cast<std::size_t>(fold)];
  for (std::size_t w = 0; w < words_; w++) mask[w] &= ~out[w];
}

std::vector<Best> Statistics::best(const Candidates& candidates, Truth& truth, const std::uint64_t* mask, const Cells& cells,
                                   std::span<const double> totals, const Demand& demand) const {
  const std::size_t t = demand.tasks.size(), n = candidates.queries.size(), w = width();
  std::vector<Best> result(t);
  if (n == 0) return result;
  truth.evaluate(candidates.queries, mask);
  std::vector<std::int32_t> counts;
  std::vector<double> sums;
  const bool classes = target_.n_classes > 0;
  // where one task is left its fold is not in the mask, and there is nothing to subtract
  const std::int32_t nothing = -1;
  const auto tasks = t == 1 ? std::span(&nothing, 1) : demand.tasks;
  const std::size_t n_cells = cells.sets.size();
  if (classes) {
    counts.resize(n * n_cells);
    CROSSCUT_DISPATCH(count_cells, truth.row(0), words_, candidates.queries.data(), n, cells.sets.data(), n_cells, counts.data());
  } else {
    count(candidates.queries, truth, mask, tasks, cells, sums);
  }
  std::vector<char> barred;
  if (!demand.barred.empty()) {
    barred.reserve(n);
    for (const auto& part : candidates.parts)
      for (const Block::Entry& each : part.block->entries)
        barred.push_back(static_cast<char>(
            demand.barred[static_cast<std::size_t>(language_.modes[static_cast<std::size_t>(each.mode)].source)]));
  }
  // of tests of equal quality the shortest, then the first generated
  const auto preferred = [&](std::size_t a, std::size_t b) {
    const Chosen left = choose(candidates, static_cast<std::int32_t>(a)), right = choose(candidates, static_cast<std::int32_t>(b));
    if (left.n_literals() != right.n_literals()) return left.n_literals() < right.n_literals();
    return generated_before(components_, language_, candidates, left, right, demand.ages);
  };
  std::vector<double> qualities(n);
  std::vector<std::int32_t> own(w);
  std::size_t left_out = 0;  // first cell of the fold that the task leaves out
  Whole whole;
  for (std::size_t i = 0; i < t; i++) {
    const double* all = totals.data() + i * w;
    if (classes) {
      whole.counts.assign(all, all + w);
      whole.n = 0;
      whole.term = 0;
      for (std::int32_t members : whole.counts) {
        const double number = members;
        whole.n += members;
        whole.term += demand.criterion == Criterion::gini ? number * number : x_log_x_[static_cast<std::size_t>(members)];
      }
      whole.n_log_n = x_log_x_[static_cast<std::size_t>(whole.n)];
    }
    if (tasks[i] >= 0) left_out += w;
    const auto yes_of = [&](std::size_t q) -> const std::int32_t* {
      const std::int32_t* cell = counts.data() + q * n_cells;
      if (tasks[i] < 0) return cell;
      for (std::size_t c = 0; c < w; c++) own[c] = cell[c] - cell[left_out + c];
      return own.data();
    };
    double top = -1.0;
    for (std::size_t q = 0; q < n; q++) {
      if (!barred.empty() && barred[q])
        qualities[q] = -1.0;
      else
        qualities[q] = classes ? quality(yes_of(q), whole, demand) : reduction(sums.data() + (q * t + i) * w, all, demand);
      top = std::max(top, qualities[q]);
    }
    if (top <= tolerance) continue;
    std::size_t chosen = n;
    for (std::size_t q = 0; q < n; q++)
      if (qualities[q] >= top - tolerance && qualities[q] > tolerance && (chosen == n || preferred(q, chosen))) chosen = q;
    result[i].candidate = static_cast<std::int32_t>(chosen);
    result[i].quality = qualities[chosen];
    if (!classes) result[i].yes.assign(sums.data() + (chosen * t + i) * w, sums.data() + (chosen * t + i + 1) * w);
  }
  return result;
}

}  // namespace crosscut::query

#include "statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dispatch.hpp"
#include "counts.hpp"

CROSSCUT_DECLARE(void count_rows(const std::uint64_t*, std::size_t, const std::int32_t*, const std::uint32_t*, std::size_t,
                                 std::int32_t*))
CROSSCUT_DECLARE(double rate(const query::Whole&, const std::int32_t*, const std::int32_t*, std::size_t, std::size_t, double*))

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
  for (const auto& fold : fold_bits_) {
    Span span{0, words_};
    while (span.begin < span.end && fold[span.begin] == 0) span.begin++;
    while (span.end > span.begin && fold[span.end - 1] == 0) span.end--;
    fold_words_.push_back(span);
  }
  x_log_x_.resize(n + 1, 0.0);
  for (std::size_t i = 2; i <= n; i++) x_log_x_[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
}

void Statistics::segments(const std::uint64_t* mask, std::span<const std::int32_t> tasks, Segments& result) const {
  result.ends.clear();
  result.groups.clear();
  if (is_regression()) return;
  std::vector<std::int32_t>& folds = result.folds;
  folds.clear();
  for (std::int32_t fold : tasks) {
    if (fold < 0) {
      result.groups.push_back(0);
      continue;
    }
    const auto known = std::find(folds.begin(), folds.end(), fold);
    result.groups.push_back(1 + static_cast<std::size_t>(known - folds.begin()));
    if (known == folds.end()) folds.push_back(fold);
  }
  result.rest.assign(mask, mask + words_);
  for (std::int32_t fold : folds) leave_out(fold, result.rest);
  result.examples.resize(n_examples());
  std::int32_t* end = result.examples.data();
  const auto add = [&](const std::uint64_t* members, const std::uint64_t* within, Span span) {
    while (span.begin < span.end && members[span.begin] == 0) span.begin++;
    while (span.end > span.begin && members[span.end - 1] == 0) span.end--;
    for (const auto& of_class : class_bits_) {
      for (std::size_t w = span.begin; w < span.end; w++)
        for (std::uint64_t set = members[w] & within[w] & of_class[w]; set; set &= set - 1)
          *end++ = static_cast<std::int32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(set)));
      result.ends.push_back(static_cast<std::uint32_t>(end - result.examples.data()));
    }
  };
  add(result.rest.data(), result.rest.data(), {0, words_});
  for (std::int32_t fold : folds)
    add(mask, fold_bits_[static_cast<std::size_t>(fold)].data(), fold_words_[static_cast<std::size_t>(fold)]);
}

// Adds to scratch.sums, per entry and task: statistics of the examples of the task where the query is true.
void Statistics::sums(const Block& block, Truth& truth, const std::uint64_t* mask, std::span<const std::int32_t> tasks,
                      Scratch& scratch) const {
  truth.evaluate(block.queries, mask, block.after);
  scratch.n_yes.clear();
  std::vector<double> per_fold(3 * (fold_bits_.size() + 1));
  for (std::int32_t query : block.queries) {
    std::fill(per_fold.begin(), per_fold.end(), 0.0);
    const std::uint64_t* row = truth.row(query);
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
    for (std::int32_t fold : tasks)
      for (std::size_t k = 0; k < 3; k++)
        scratch.sums.push_back(all[k] - (fold < 0 ? 0.0 : per_fold[3 * static_cast<std::size_t>(fold) + k]));
    scratch.n_yes.push_back(static_cast<std::int32_t>(all[0]));
  }
}

std::vector<double> Statistics::totals(std::span<const std::int32_t> tasks) const {
  const std::size_t w = width(), n_folds = fold_bits_.size();
  std::vector<double> sums((n_folds + 1) * w, 0.0), result;  // per fold, and of all
  for (std::size_t e = 0; e < n_examples(); e++)
    for (const std::size_t at : {folds_[e] < 0 ? n_folds : static_cast<std::size_t>(folds_[e]), n_folds}) {
      double* own = sums.data() + at * w;
      if (!is_regression()) {
        own[target_.codes[e]]++;
      } else {
        own[0]++;
        own[1] += target_.values[e];
        own[2] += target_.squares[e];
      }
      if (folds_[e] < 0) break;
    }
  for (std::int32_t task : tasks)
    for (std::size_t c = 0; c < w; c++)
      result.push_back(sums[n_folds * w + c] - (task < 0 ? 0.0 : sums[static_cast<std::size_t>(task) * w + c]));
  return result;
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

double Statistics::rate_classes(const Candidates& candidates, std::size_t group, const double* all, const Demand& demand,
                                Scratch& scratch) const {
  const std::size_t k = target_.n_classes;
  double top = -1.0;
  std::vector<std::int32_t>& members = scratch.members;
  members.assign(all, all + k);
  const bool gini = demand.criterion == Criterion::gini;
  Whole whole{k, members.data(), 0, demand.minimal_cases, 0, nullptr, nullptr, gini, demand.criterion == Criterion::gain_ratio, tolerance};
  for (std::int32_t each : members) {
    whole.n += each;
    whole.term += gini ? static_cast<double>(each) * each : x_log_x_[static_cast<std::size_t>(each)];
  }
  if (!gini) {
    const auto n = static_cast<std::size_t>(whole.n);
    const double* x = x_log_x_.data();
    if (scratch.split.size() <= n) scratch.split.resize(n + 1);
    if (scratch.kept.size() < n + k) scratch.kept.resize(n + k);
    for (std::size_t i = 0; i <= n; i++) scratch.split[i] = x[n] - x[i] - x[n - i];
    double* kept = scratch.kept.data();
    for (std::int32_t each : members) {
      const auto count = static_cast<std::size_t>(each);
      for (std::size_t i = 0; i <= count; i++) kept[i] = x[i] + x[count - i];
      kept += count + 1;
    }
    whole.split = scratch.split.data();
    whole.kept = scratch.kept.data();
  }
  scratch.tops.clear();
  for (std::size_t p = 0; p < candidates.parts.size(); p++) {
    const std::int32_t* own = scratch.counts.data() + scratch.first[p];
    const std::size_t stride = candidates.parts[p].block->table.width * 64;
    const double best = CROSSCUT_DISPATCH(rate, whole, own, group == 0 ? nullptr : own + group * k * stride, stride, candidates.parts[p].block->size(),
                      scratch.qualities.data() + candidates.first[p]);
    scratch.tops.push_back(best);
    top = std::max(top, best);
  }
  return top;
}

// Adds a block's counts to scratch.counts: per group of segments and class the examples where each test is true. Group 0 is
// made to hold the counts of all examples.
void Statistics::count_classes(const Block& block, Truth& truth, const std::uint64_t* mask, const Segments& segments,
                               Scratch& scratch) const {
  const std::size_t k = target_.n_classes, n_segments = segments.ends.size();
  TruthTable& table = block.table;
  truth.tabulate(block.queries, mask, block.after, table);
  const std::size_t stride = table.width * 64, begin = scratch.n_counts;
  scratch.first.push_back(begin);
  scratch.n_counts += n_segments * stride;
  if (scratch.counts.size() < scratch.n_counts) scratch.counts.resize(2 * scratch.n_counts);
  std::int32_t* own = scratch.counts.data() + begin;
  const std::size_t n = segments.ends.back();
  scratch.rows.resize(n);
  for (std::size_t i = 0; i < n; i++) scratch.rows[i] = table.rows[static_cast<std::size_t>(segments.examples[i])];
  CROSSCUT_DISPATCH(count_rows, table.bits.data(), table.width, scratch.rows.data(), segments.ends.data(), n_segments, own);
  for (std::size_t g = 1; g < n_segments / k; g++)
    for (std::size_t i = 0; i < k * stride; i++) own[i] += own[g * k * stride + i];
  if (block.followers.empty()) return;
  scratch.n_yes.assign(own, own + stride);
  for (std::size_t c = 1; c < k; c++)
    for (std::size_t i = 0; i < stride; i++) scratch.n_yes[i] += own[c * stride + i];
}

// Candidates whose mode may not be used any more, or that bind a type variable otherwise than the path does.
std::vector<std::size_t> Statistics::barred_among(const Candidates& candidates, const Demand& demand) const {
  std::vector<std::size_t> result;
  for (std::size_t p = 0; p < candidates.parts.size(); p++) {
    const Shape& shape = *candidates.parts[p].block->shape;
    if (demand.barred.empty() && (shape.bindings.empty() || demand.bound.empty())) continue;
    std::size_t at = 0;
    for (std::size_t e = 0; e < shape.entries.size(); e++) {
      const Shape::Entry& each = shape.entries[e];
      const std::int32_t source = language_.modes[static_cast<std::size_t>(each.mode)].source;
      bool out = !demand.barred.empty() && demand.barred[static_cast<std::size_t>(source)];
      for (; at < each.binding_end; at += 2) {
        const std::int32_t bound = demand.bound[static_cast<std::size_t>(shape.bindings[at])];
        out = out || (bound != any_type && bound != shape.bindings[at + 1]);
      }
      if (out) result.push_back(candidates.first[p] + e);
    }
  }
  return result;
}

void Statistics::best(Candidates& candidates, Refinement& refinement, Truth& truth, const std::uint64_t* mask,
                      const Segments& segments, std::span<const double> totals, const Demand& demand, Scratch& scratch,
                      std::vector<std::int32_t>& best_tests, std::vector<double>& passed) const {
  const std::size_t t = demand.tasks.size(), w = width();
  const bool classes = !is_regression();
  scratch.first.clear();
  scratch.n_counts = 0;
  scratch.sums.clear();
  for (std::size_t p = 0; p < candidates.parts.size(); p++) {
    const Block& block = *candidates.parts[p].block;
    if (classes)
      count_classes(block, truth, mask, segments, scratch);
    else
      sums(block, truth, mask, demand.tasks, scratch);
    // what follows a test holds for no more examples than the test does
    for (std::size_t f = 0; f < block.followers.size(); f++)
      if (scratch.n_yes[block.shape->followers[f].entry] >= std::max(1, demand.minimal_cases))
        if (const auto& after = refinement.follow(block, f); after->size() > 0) candidates.add({after, candidates.parts[p].places});
  }
  const std::size_t n = candidates.size;
  best_tests.assign(t, -1);
  passed.assign(t * w, 0.0);
  if (n == 0) return;
  std::vector<double>& qualities = scratch.qualities;
  qualities.resize(n);
  const std::vector<std::size_t> barred = barred_among(candidates, demand);
  // of tests of equal quality the shortest, then the first generated
  const auto preferred = [&](std::size_t a, std::size_t b) {
    const Chosen left = choose(candidates, static_cast<std::int32_t>(a)), right = choose(candidates, static_cast<std::int32_t>(b));
    if (left.n_literals() != right.n_literals()) return left.n_literals() < right.n_literals();
    return generated_before(components_, language_, candidates, left, right, demand.ages);
  };
  for (std::size_t i = 0; i < t; i++) {
    const double* all = totals.data() + i * w;
    double top = -1.0;
    if (classes)
      top = rate_classes(candidates, segments.groups[i], all, demand, scratch);
    else
      for (std::size_t q = 0; q < n; q++) qualities[q] = reduction(scratch.sums.data() + (q * t + i) * w, all, demand);
    for (std::size_t q : barred) qualities[q] = -1.0;
    if (!classes || !barred.empty()) top = *std::max_element(qualities.begin(), qualities.end());
    if (top <= tolerance) continue;
    std::size_t chosen = n, part = 0;
    for (std::size_t p = 0; p < candidates.parts.size(); p++) {
      if (classes && scratch.tops[p] < top - tolerance) continue;
      for (std::size_t q = candidates.first[p]; q < candidates.first[p] + candidates.parts[p].block->size(); q++)
        if (qualities[q] >= top - tolerance && qualities[q] > tolerance && (chosen == n || preferred(q, chosen))) chosen = q, part = p;
    }
    best_tests[i] = static_cast<std::int32_t>(chosen);
    const std::size_t stride = candidates.parts[part].block->table.width * 64, group = segments.groups.empty() ? 0 : segments.groups[i];
    const std::int32_t* counts = classes ? scratch.counts.data() + scratch.first[part] + (chosen - candidates.first[part]) : nullptr;
    for (std::size_t c = 0; c < w; c++)
      passed[i * w + c] = !classes ? scratch.sums[(chosen * t + i) * w + c]
                                   : counts[c * stride] - (group == 0 ? 0 : counts[(group * w + c) * stride]);
  }
}

}  // namespace crosscut::query

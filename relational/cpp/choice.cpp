// The best test of every task. The truth of all tests is counted in one pass over the bundle's
// examples, fold by fold; a task's counts are those of all examples less those of its fold. Tests
// are rated block by block; ties are searched only in blocks that have a best test.
#include "choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/dispatch.hpp"
#include "counts.hpp"

CROSSCUT_DECLARE(void count_rows(const std::uint64_t*, std::size_t, const std::int32_t*,
                                 const std::uint32_t*, std::size_t, std::int32_t*))
CROSSCUT_DECLARE(double rate(const query::Whole&, const std::int32_t*, const std::int32_t*,
                             std::size_t, std::size_t, double*))

namespace crosscut::query {

double reduction(const Moments& moments, const double* yes, const double* all,
                 std::int32_t minimal_cases) {
  const double n_yes = moments.n(yes), deviations = moments.deviations(all);
  if (n_yes < minimal_cases || moments.n(all) - n_yes < minimal_cases || deviations <= 0)
    return -1.0;
  std::vector<double> no(moments.width());
  for (std::size_t k = 0; k < no.size(); k++) no[k] = all[k] - yes[k];
  return (deviations - moments.deviations(yes) - moments.deviations(no.data())) / deviations;
}

Choice::Choice(const Components& components, Refinement& refinement, Truth& truth,
               const Statistics& statistics, const Attributes& attributes)
    : components_(components),
      refinement_(refinement),
      truth_(truth),
      statistics_(statistics),
      attributes_(attributes),
      x_log_x_(statistics.n_examples() + 1, 0.0) {
  for (std::size_t i = 2; i < x_log_x_.size(); i++)
    x_log_x_[i] = static_cast<double>(i) * std::log2(static_cast<double>(i));
}

// Says which group and class each example is of, and in which order they are counted.
void Choice::arrange(const Demand& demand) {
  groups_.assign(demand.tasks.size(), 0);
  group_of_fold_.assign(statistics_.n_folds(), 0);
  n_groups_ = 1;
  for (std::size_t i = 0; i < demand.tasks.size(); i++) {
    if (demand.tasks[i] < 0) continue;
    std::size_t& group = group_of_fold_[static_cast<std::size_t>(demand.tasks[i])];
    if (group == 0) group = n_groups_++;
    groups_[i] = group;
  }
  const std::vector<std::int32_t>& positions = demand.table.positions;
  const std::size_t k = statistics_.is_regression() ? 1 : statistics_.width();
  slots_.resize(positions.size());
  order_.resize(positions.size());
  ends_.assign(n_groups_ * k, 0);
  for (std::size_t i = 0; i < positions.size(); i++) {
    const auto position = static_cast<std::size_t>(positions[i]);
    const std::int32_t fold = n_groups_ == 1 ? -1 : statistics_.fold_of(position);
    const std::size_t group = fold < 0 ? 0 : group_of_fold_[static_cast<std::size_t>(fold)];
    slots_[i] = static_cast<std::int32_t>(group * k) +
                (statistics_.is_regression() ? 0 : statistics_.target().codes[position]);
    ends_[static_cast<std::size_t>(slots_[i])]++;
    order_[i] = static_cast<std::int32_t>(i);
  }
  if (statistics_.is_regression()) return;
  std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), std::uint32_t{0});
  for (std::size_t i = 0; i < positions.size(); i++)
    order_[ends_[static_cast<std::size_t>(slots_[i])]++] = static_cast<std::int32_t>(i);
}

Choice::View Choice::tabulate(const Block& block, const Demand& demand) {
  const Shape& shape = *block.shape;
  const auto& components = block.components;
  if (!shape.endings) {
    std::vector<Tails::Place> places(block.size());
    std::vector<std::int32_t> types;
    for (std::int32_t each : components)
      types.insert(types.end(), components_[each].types.begin(), components_[each].types.end());
    const std::size_t second = components.size() == 2 && !refinement_.names_all
                                   ? components_[components[0]].types.size()
                                   : 0;
    for (std::size_t e = 0; (components.size() == 1 || second > 0) && e < block.size(); e++)
      places[e] = truth_.tails().place(shape.code(e), types, second);
    shape.endings = std::make_shared<const Endings>(places);
  }
  if (components.empty() &&
      block.queries[0] < 0) {  // the table may be one of queries with other numbers
    for (std::size_t e = 0; e < block.size(); e++) refinement_.query(block, e);
    if (block.table.queries != block.queries) block.table = {{}, {}, block.queries};
  }
  const Asked asked{components, *shape.endings,
                    [&](std::size_t entry) { return refinement_.query(block, entry); },
                    block.after};
  if (demand.keeps_tables || !shape.endings->others.empty() || shape.endings->links) {
    truth_.tabulate(asked, demand.table.positions, block.table);
    return {block.table.bits.data(), block.table.rows.data()};
  }
  auto& rows = demand.table.rows;
  auto own = std::find_if(rows.begin(), rows.end(), [&](const LocalTable::Rows& each) {
    return each.component == components[0] && each.shape == block.shape;
  });
  if (own == rows.end()) {
    own = rows.insert(own, {components[0], block.shape, block.width(),
                            std::vector<std::uint64_t>(demand.table.size() * block.width(), 0)});
    truth_.tabulate(asked, demand.table.positions, own->bits.data());
  }
  own->used = true;
  return {own->bits.data(), nullptr};
}

// The rows of the examples, as they are counted.
const std::int32_t* Choice::rows_of(const View& view, const Demand& demand) {
  if (view.rows == nullptr) return order_.data();
  rows_.resize(order_.size());
  for (std::size_t i = 0; i < order_.size(); i++) {
    const std::int32_t position = demand.table.positions[static_cast<std::size_t>(order_[i])];
    rows_[i] = view.rows[position];
  }
  return rows_.data();
}

// Adds the sums of a block's tests, of numbers.
void Choice::add_sums(const Block& block, const Demand& demand) {
  const View& view = views_.emplace_back(tabulate(block, demand));
  n_yes_.resize(block.size());
  statistics_.add_sums(view.bits, {rows_of(view, demand), order_.size()}, demand.table.positions,
                       demand.tasks, n_yes_, sums_);
}

// Adds a block's counts: per group of segments and class the examples where each test is true.
// Group 0 gets the counts of all examples.
void Choice::count_classes(const Block& block, const Demand& demand) {
  const std::size_t k = statistics_.width();
  const View& view = views_.emplace_back(tabulate(block, demand));
  const std::size_t stride = block.width() * 64, begin = n_counts_;
  first_.push_back(begin);
  n_counts_ += ends_.size() * stride;
  if (counts_.size() < n_counts_) counts_.resize(2 * n_counts_);
  std::int32_t* own = counts_.data() + begin;
  CROSSCUT_DISPATCH(count_rows, view.bits, block.width(), rows_of(view, demand), ends_.data(),
                    ends_.size(), own);
  for (std::size_t g = 1; g < n_groups_; g++)
    for (std::size_t i = 0; i < k * stride; i++) own[i] += own[g * k * stride + i];
  if (block.followers.empty()) return;
  n_yes_.assign(own, own + stride);
  for (std::size_t c = 1; c < k; c++)
    for (std::size_t i = 0; i < stride; i++) n_yes_[i] += own[c * stride + i];
}

void Choice::split(const Candidates& candidates, std::int32_t number, const Demand& demand,
                   std::vector<std::uint64_t>& yes, std::vector<std::uint64_t>& no) const {
  const std::size_t part = part_of(candidates, number);
  const std::size_t test = static_cast<std::size_t>(number) - candidates.first[part];
  const std::size_t width = candidates.parts[part].block->width();
  const auto& positions = demand.table.positions;
  yes.assign(demand.examples.size(), 0);
  no.assign(demand.examples.begin(), demand.examples.end());
  for (std::size_t i = 0; i < positions.size(); i++) {
    const auto position = static_cast<std::size_t>(positions[i]);
    const std::size_t row =
        views_[part].rows == nullptr ? i : static_cast<std::size_t>(views_[part].rows[position]);
    yes[position / 64] |= (views_[part].bits[row * width + test / 64] >> test % 64 & 1)
                          << position % 64;
  }
  for (std::size_t w = 0; w < no.size(); w++) no[w] &= ~yes[w];
}

void Choice::prepare(Task& task, const double* all, const Demand& demand) const {
  const std::size_t k = statistics_.width();
  task.members.assign(all, all + k);
  const bool gini = demand.criterion == Criterion::gini;
  Whole& whole = task.whole;
  whole = {k,
           task.members.data(),
           0,
           demand.minimal_cases,
           0,
           nullptr,
           nullptr,
           gini,
           demand.criterion == Criterion::gain_ratio,
           tolerance};
  for (std::int32_t each : task.members) {
    whole.n += each;
    whole.term +=
        gini ? static_cast<double>(each) * each : x_log_x_[static_cast<std::size_t>(each)];
  }
  if (gini) return;
  const auto n = static_cast<std::size_t>(whole.n);
  const double* x = x_log_x_.data();
  if (task.split.size() <= n) task.split.resize(n + 1);
  if (task.kept.size() < n + k) task.kept.resize(n + k);
  for (std::size_t i = 0; i <= n; i++) task.split[i] = x[n] - x[i] - x[n - i];
  double* kept = task.kept.data();
  for (std::int32_t each : task.members) {
    const auto count = static_cast<std::size_t>(each);
    for (std::size_t i = 0; i <= count; i++) kept[i] = x[i] + x[count - i];
    kept += count + 1;
  }
  whole.split = task.split.data();
  whole.kept = task.kept.data();
}

double Choice::rate_classes(const Candidates& candidates, std::size_t group, const Whole& whole) {
  const std::size_t k = statistics_.width();
  double top = -1.0;
  tops_.clear();
  for (std::size_t p = 0; p < candidates.parts.size(); p++) {
    const std::int32_t* own = counts_.data() + first_[p];
    const std::size_t stride = candidates.parts[p].block->width() * 64;
    const double best = CROSSCUT_DISPATCH(
        rate, whole, own, group == 0 ? nullptr : own + group * k * stride, stride,
        candidates.parts[p].block->size(), qualities_.data() + candidates.first[p]);
    tops_.push_back(best);
    top = std::max(top, best);
  }
  return top;
}

// Candidates whose mode may not be used any more, or that bind a type variable differently from the
// path.
std::vector<std::size_t> Choice::barred_among(const Candidates& candidates,
                                              const Demand& demand) const {
  std::vector<std::size_t> result;
  for (std::size_t p = 0; p < candidates.parts.size(); p++) {
    const Shape& shape = *candidates.parts[p].block->shape;
    if (demand.barred.empty() && (shape.bindings.empty() || demand.bound.empty())) continue;
    std::size_t at = 0;
    for (std::size_t e = 0; e < shape.entries.size(); e++) {
      const Shape::Entry& each = shape.entries[e];
      const std::int32_t source =
          refinement_.language().modes[static_cast<std::size_t>(each.mode)].source;
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

void Choice::best(Candidates& candidates, const Demand& demand,
                  std::vector<std::int32_t>& best_tests, std::vector<Cut>& cuts,
                  std::vector<double>& passed) {
  const std::size_t t = demand.tasks.size(), w = statistics_.width();
  const bool classes = !statistics_.is_regression();
  arrange(demand);
  views_.clear();
  first_.clear();
  n_counts_ = 0;
  sums_.clear();
  for (std::size_t p = 0; p < candidates.parts.size(); p++) {
    const Block& block = *candidates.parts[p].block;
    classes ? count_classes(block, demand) : add_sums(block, demand);
    // an extension of a test holds for no more examples than the test
    for (std::size_t f = 0; f < block.followers.size(); f++)
      if (n_yes_[block.shape->followers[f].entry] >= std::max(1, demand.minimal_cases))
        if (const auto& after = refinement_.follow(block, f); after->size() > 0)
          candidates.add({after, candidates.parts[p].places});
  }
  std::erase_if(demand.table.rows, [](const LocalTable::Rows& each) { return !each.used; });
  const std::size_t n = candidates.size;
  best_tests.assign(t, -1);
  passed.assign(t * w, 0.0);
  cuts.assign(t, Cut{});
  qualities_.resize(n);
  if (tasks_.size() < t) tasks_.resize(t);
  if (classes)
    for (std::size_t i = 0; i < t; i++) prepare(tasks_[i], demand.totals.data() + i * w, demand);
  rate_cuts(demand);
  const std::vector<std::size_t> barred = barred_among(candidates, demand);
  // among tests of equal quality, the shortest, then the first generated
  const auto preferred = [&](std::size_t a, std::size_t b) {
    const Chosen left = choose(candidates, static_cast<std::int32_t>(a));
    const Chosen right = choose(candidates, static_cast<std::int32_t>(b));
    if (left.n_literals() != right.n_literals()) return left.n_literals() < right.n_literals();
    return generated_before(components_, refinement_.language(), candidates, left, right,
                            demand.ages);
  };
  for (std::size_t i = 0; i < t; i++) {
    const double* all = demand.totals.data() + i * w;
    double top = -1.0;
    if (classes) top = rate_classes(candidates, groups_[i], tasks_[i].whole);
    else
      for (std::size_t q = 0; q < n; q++)
        qualities_[q] = reduction(statistics_.moments(), sums_.data() + (q * t + i) * w, all,
                                  demand.minimal_cases);
    for (std::size_t q : barred) qualities_[q] = -1.0;
    if (n > 0 && (!classes || !barred.empty()))
      top = *std::max_element(qualities_.begin(), qualities_.end());
    const std::vector<Offer>& offers = offers_[i];
    if (!offers.empty() && offers.back().quality > top + tolerance) {
      const double least = offers.back().quality - tolerance;
      const auto offer = std::find_if(offers.begin(), offers.end(),
                                      [&](const Offer& each) { return each.quality >= least; });
      cuts[i] = settle(offer->cut, demand.tasks[i], demand, passed.data() + i * w);
      best_tests[i] = static_cast<std::int32_t>(n);
      continue;
    }
    if (top <= tolerance) continue;
    std::size_t chosen = n, part = 0;
    for (std::size_t p = 0; p < candidates.parts.size(); p++) {
      if (classes && tops_[p] < top - tolerance) continue;
      for (std::size_t q = candidates.first[p];
           q < candidates.first[p] + candidates.parts[p].block->size(); q++)
        if (qualities_[q] >= top - tolerance && qualities_[q] > tolerance &&
            (chosen == n || preferred(q, chosen))) {
          chosen = q;
          part = p;
        }
    }
    best_tests[i] = static_cast<std::int32_t>(chosen);
    const std::size_t stride = candidates.parts[part].block->width() * 64, group = groups_[i];
    const std::int32_t* counts =
        classes ? counts_.data() + first_[part] + (chosen - candidates.first[part]) : nullptr;
    for (std::size_t c = 0; c < w; c++)
      passed[i * w + c] =
          !classes ? sums_[(chosen * t + i) * w + c]
                   : counts[c * stride] - (group == 0 ? 0 : counts[(group * w + c) * stride]);
  }
}

}  // namespace crosscut::query

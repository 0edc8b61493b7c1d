// Rates the cuts of attributes: one walk over a node's examples, by ascending value, counts every
// cut for all tasks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/dispatch.hpp"
#include "choice.hpp"

CROSSCUT_DECLARE(double rate(const query::Whole&, const std::int32_t*, const std::int32_t*,
                             std::size_t, std::size_t, double*))

namespace crosscut::query {

namespace {

// rated together; a multiple of what the kernel takes at once, and none of 1,024: the counts of all
// groups would share a few lines of the cache
constexpr std::size_t most_cuts = 1040;

}  // namespace

// Offers every task the cuts that are better than those before them: attributes in their order, "at
// most" before "above", thresholds from low to high. So the first of those that are as good as the
// best is among the offers.
void Choice::rate_cuts(const Demand& demand) {
  const std::size_t t = demand.tasks.size();
  if (offers_.size() < t) {
    offers_.resize(t);
    above_.resize(t);
  }
  for (std::size_t i = 0; i < t; i++) {
    offers_[i].clear();
    above_[i].clear();
  }
  if (attributes_.size() == 0) return;
  const std::size_t stride = std::min(most_cuts, demand.table.size() / 16 * 16 + 16);
  cut_counts_.assign(n_groups_ * statistics_.width() * stride, 0);
  cut_at_.resize(stride);
  if (qualities_.size() < stride) qualities_.resize(stride);
  for (std::size_t a = 0; a < attributes_.size(); a++) {
    const auto list = demand.table.list(a);
    if (list.size() < 2) continue;
    statistics_.is_regression() ? scan_sums(a, list, demand) : scan_classes(a, list, demand);
    for (std::size_t i = 0; i < t; i++) {
      for (const Offer& offer : above_[i])
        if (offers_[i].empty() || offer.quality > offers_[i].back().quality)
          offers_[i].push_back(offer);
      above_[i].clear();
    }
  }
}

// Calls at_cut(i) where the values of the sorted examples rise after the i-th, and
// at_example(example) for each.
template <class AtCut, class AtExample>
void Choice::walk(std::span<const std::uint32_t> list, AtCut at_cut, AtExample at_example) {
  for (std::size_t i = 0; i < list.size(); i++) {
    if (i > 0 && !(list[i] & Attributes::tie)) at_cut(i - 1);
    at_example(list[i] & ~Attributes::tie);
  }
}

// How many different values each group's task has: all of them, less those that only the examples
// it leaves out have. Leaves the class counts of each group in known_, where some values are
// missing.
std::vector<double> Choice::count_values(std::span<const std::uint32_t> list, bool missing) {
  const std::size_t k = statistics_.width();
  known_.assign(n_groups_ * k, 0);
  if (n_groups_ == 1) {
    for (std::size_t i = 0; missing && i < list.size(); i++)
      known_[static_cast<std::size_t>(slots_[list[i] & ~Attributes::tie])]++;
    return {static_cast<double>(std::count_if(
        list.begin(), list.end(), [](std::uint32_t each) { return !(each & Attributes::tie); }))};
  }
  std::vector<double> alone(n_groups_ + 1, 0.0);  // last the values of several groups
  std::size_t only = 0;                           // the group of all examples of the value at hand
  bool first = true;
  const auto end_value = [&](std::size_t) {
    alone[only]++;
    first = true;
  };
  walk(list, end_value, [&](std::uint32_t example) {
    const auto slot = static_cast<std::size_t>(slots_[example]), group = slot / k;
    only = first || only == group ? group : n_groups_;
    first = false;
    known_[slot]++;
  });
  end_value(0);
  const double all = std::accumulate(alone.begin(), alone.end(), 0.0);
  for (std::size_t g = 1; g < n_groups_; g++) {
    alone[g] = all - alone[g];
    for (std::size_t c = 0; c < k; c++) known_[c] += known_[g * k + c];
  }
  alone[0] = all;
  return alone;
}

// Whether a counted cut has values of the task that leaves out this group on both sides. Where
// values are missing, a cut above all of them separates known from missing values: only the
// examples that the task leaves out have a value beyond it, so it has no threshold there.
bool Choice::divides(std::size_t group, std::size_t cut) const {
  const std::size_t k = statistics_.width(), stride = cut_at_.size();
  std::int32_t yes = 0;
  for (std::size_t c = 0; c < k; c++) {
    yes += cut_counts_[c * stride + cut];
    if (group > 0) yes -= cut_counts_[(group * k + c) * stride + cut];
  }
  return yes > 0 && yes < count_known(group);
}

// How many examples of the task that leaves out this group have a value.
std::int32_t Choice::count_known(std::size_t group) const {
  const auto k = static_cast<std::ptrdiff_t>(statistics_.width());
  const auto count = [&](std::size_t g) {
    const auto first = known_.begin() + static_cast<std::ptrdiff_t>(g) * k;
    return std::accumulate(first, first + k, std::int32_t{0});
  };
  return group == 0 ? count(0) : count(0) - count(group);
}

// Offers every task the n cuts that have been counted.
void Choice::rate_cuts_of(std::size_t attribute, bool above, bool missing,
                          std::span<const double> n_values, std::size_t n,
                          const std::function<double(std::size_t)>& value) {
  const std::size_t k = statistics_.width(), stride = cut_at_.size();
  for (std::size_t i = 0; i < groups_.size(); i++) {
    const std::int32_t* left_out =
        groups_[i] == 0 ? nullptr : cut_counts_.data() + groups_[i] * k * stride;
    // without missing values of its own, a task's "above" cuts are its "at most" cuts again
    if (above && count_known(groups_[i]) == tasks_[i].whole.n) continue;
    // as in C4.5, a threshold has to gain more than it takes to say which of them it is
    Whole whole = tasks_[i].whole;
    if (!whole.gini) whole.term += std::log2(std::max(n_values[groups_[i]] - 1, 1.0));
    const double top =
        CROSSCUT_DISPATCH(rate, whole, cut_counts_.data(), left_out, stride, n, qualities_.data());
    std::vector<Offer>& offers = above ? above_[i] : offers_[i];
    double best = offers.empty() ? tolerance : offers.back().quality;
    for (std::size_t c = 0; c < n && best < top; c++) {
      if (qualities_[c] <= best || (missing && !divides(groups_[i], c))) continue;
      best = qualities_[c];
      offers.push_back({best, {static_cast<std::int32_t>(attribute), above, value(cut_at_[c]), 0}});
    }
  }
}

void Choice::scan_classes(std::size_t attribute, std::span<const std::uint32_t> list,
                          const Demand& demand) {
  const std::size_t k = statistics_.width(), width = n_groups_ * k, stride = cut_at_.size();
  const bool missing = list.size() < demand.table.size();
  const std::vector<double> n_values = count_values(list, missing);
  std::size_t n = 0;
  const auto value = [&](std::size_t i) {
    return attributes_.value(
        attribute, static_cast<std::size_t>(demand.table.positions[list[i] & ~Attributes::tie]));
  };
  const auto rate_all = [&](bool above) {
    rate_cuts_of(attribute, above, missing, n_values, n, value);
  };
  const auto rate_both = [&] {
    rate_all(false);
    if (missing) {
      for (std::size_t g = 0; g < width; g++)
        for (std::size_t c = 0; c < n; c++)
          cut_counts_[g * stride + c] = known_[g] - cut_counts_[g * stride + c];
      rate_all(true);
    }
    n = 0;
  };
  if (k == 2 && n_groups_ == 1) {
    std::int32_t ones = slots_[list[0] & ~Attributes::tie], *first = cut_counts_.data(),
                 *second = first + stride;
    for (std::size_t i = 1; i < list.size();) {
      const std::size_t end = std::min(list.size(), i + stride - n);
      // a cut is written at every example, and stays where it is one: which are is hard to guess
      for (; i < end; i++) {
        first[n] = static_cast<std::int32_t>(i) - ones;
        second[n] = ones;
        cut_at_[n] = i - 1;
        n += !(list[i] & Attributes::tie);
        ones += slots_[list[i] & ~Attributes::tie];
      }
      if (n == stride) rate_both();
    }
  } else {
    running_.assign(width, 0);
    walk(
        list,
        [&](std::size_t i) {
          for (std::size_t g = 0; g < width; g++) cut_counts_[g * stride + n] = running_[g];
          cut_at_[n++] = i;
          if (n == stride) rate_both();
        },
        [&](std::uint32_t example) {
          const auto slot = static_cast<std::size_t>(slots_[example]);
          running_[slot]++;
          if (slot >= k) running_[slot % k]++;
        });
  }
  if (n > 0) rate_both();
}

void Choice::scan_sums(std::size_t attribute, std::span<const std::uint32_t> list,
                       const Demand& demand) {
  const Moments& moments = statistics_.moments();
  const std::size_t w = statistics_.width(), t = demand.tasks.size();
  const bool missing = list.size() < demand.table.size();
  const auto adding = [&](std::vector<double>& sums) {
    sums.assign(n_groups_ * w, 0.0);
    return [&, digits = statistics_.target().digits.data()](std::uint32_t example) {
      const double* own = digits + static_cast<std::size_t>(demand.table.positions[example]) * w;
      const auto group = static_cast<std::size_t>(slots_[example]);
      for (std::size_t c = 0; c < w; c++) sums[c] += own[c];
      for (std::size_t c = 0; group > 0 && c < w; c++) sums[group * w + c] += own[c];
    };
  };
  if (missing) walk(list, [](std::size_t) {}, adding(known_sums_));
  std::vector<double> means(t), deviations(t), known(t), yes(w);
  for (std::size_t i = 0; i < t; i++) {
    means[i] = moments.mean(demand.totals.data() + i * w);
    deviations[i] = moments.deviations(demand.totals.data() + i * w);
    if (!missing) continue;
    known[i] = moments.n(known_sums_.data());
    if (groups_[i] > 0) known[i] -= moments.n(known_sums_.data() + groups_[i] * w);
  }
  // An upper bound of the quality: between branches the deviations are n·(S_yes − n_yes·mean)² /
  // (n_yes·n_no).
  const auto at_most = [&](std::size_t i, double n) {
    const double n_yes = moments.n(yes.data()), n_no = n - n_yes;
    if (n_yes < demand.minimal_cases || n_no < demand.minimal_cases) return -1.0;
    const auto [sum, error] = moments.about(yes.data());
    const double far =
        std::fabs(sum - n_yes * means[i]) + error + 1e-15 * n_yes * std::fabs(means[i]);
    const double bound = far * far * n / (n_yes * n_no) / deviations[i];
    return bound == bound ? bound * (1 + 1e-12) + 1e-12 : std::numeric_limits<double>::infinity();
  };
  const auto add_cut = [&](std::size_t at) {
    const double value = attributes_.value(
        attribute, static_cast<std::size_t>(demand.table.positions[list[at] & ~Attributes::tie]));
    for (std::size_t i = 0; i < t; i++)
      for (const bool above : {false, true}) {
        if (above && (!missing || known[i] == moments.n(demand.totals.data() + i * w))) continue;
        for (std::size_t c = 0; c < w; c++) {
          const auto of = [&](const std::vector<double>& sums) {
            return sums[c] - (groups_[i] > 0 ? sums[groups_[i] * w + c] : 0.0);
          };
          yes[c] = above ? of(known_sums_) - of(running_sums_) : of(running_sums_);
        }
        const double n_yes = moments.n(yes.data());
        if (missing && (n_yes == 0 || n_yes == known[i])) continue;  // see `divides`
        const double* all = demand.totals.data() + i * w;
        std::vector<Offer>& offers = above ? above_[i] : offers_[i];
        const double best = offers.empty() ? tolerance : offers.back().quality;
        if (at_most(i, moments.n(all)) <= best) continue;
        const double quality = reduction(moments, yes.data(), all, demand.minimal_cases);
        if (quality > best)
          offers.push_back({quality, {static_cast<std::int32_t>(attribute), above, value, 0}});
      }
  };
  walk(list, add_cut, adding(running_sums_));
}

// The cut between the task's own values, and the statistics of its examples that pass it.
Cut Choice::settle(const Cut& cut, std::int32_t fold, const Demand& demand, double* passed) const {
  Cut own = cut;
  own.low = -std::numeric_limits<double>::infinity();
  own.high = -own.low;
  const Target& target = statistics_.target();
  for (std::int32_t each : demand.table.positions) {
    const auto position = static_cast<std::size_t>(each);
    if (fold >= 0 && statistics_.fold_of(position) == fold) continue;
    const double value = attributes_.value(static_cast<std::size_t>(cut.attribute), position);
    if (value <= cut.low) own.low = std::max(own.low, value);
    if (value > cut.low) own.high = std::min(own.high, value);
    if (!attributes_.passes(cut, cut.low, position)) continue;
    if (!statistics_.is_regression()) passed[target.codes[position]]++;
    for (std::size_t c = 0; statistics_.is_regression() && c < statistics_.width(); c++)
      passed[c] += target.digits[position * statistics_.width() + c];
  }
  return own;
}

}  // namespace crosscut::query

// Refining bundles depth first. A bundle whose tasks choose different tests forks into one bundle
// per test; large bundles become jobs that other threads may take (jobs.cpp).
#include "growth.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace crosscut::query {

void Path::set_ages(const Components& all) {
  std::vector<std::size_t> first(components.size() + 1, 0);
  for (std::size_t c = 0; c < components.size(); c++)
    first[c + 1] = first[c] + all[components[c]].types.size();
  ages.assign(first.back(), 0);
  for (std::size_t v = 0; v < variables.size(); v++)
    ages[first[static_cast<std::size_t>(variables[v].part)] +
         static_cast<std::size_t>(variables[v].variable)] =
        static_cast<std::int32_t>(variables.size() - 1 - v);
}

void Growth::grow(Job& job) {
  job_ = &job;
  job.trees.resize(job.tasks.size());
  for (std::size_t i = 0; i < job.tasks.size(); i++)
    places_[static_cast<std::size_t>(job.tasks[i])] = static_cast<std::int32_t>(i);
  with_.components.start();
  with_.refinement.names_all = settings_.names_all;
  with_.truth.drop_tables(with_.refinement.drop_blocks());
  for (std::int32_t& component : job.path.components)
    component = with_.components.same(job.words, component);
  handed_down_ -= job.table.bytes();
  if (job.by != this) job.table.rows.clear();  // of queries with other numbers
  job.by = this;
  refine(job.path, job.own, std::move(job.table), job.tasks, job.totals, 0);
  job.path = {};
  job.own = {};
  job.totals = {};
}

// Leaves a bundle to any idle thread.
void Growth::leave(const Path& path, std::vector<std::uint64_t>& own, LocalTable table,
                   std::span<const std::int32_t> tasks, std::span<const double> totals,
                   std::int32_t level) {
  std::unique_ptr<Job> job(new Job{Components(with_.facts),
                                   path,
                                   std::move(own),
                                   std::move(table),
                                   {tasks.begin(), tasks.end()},
                                   {totals.begin(), totals.end()},
                                   job_->level + level,
                                   this});
  job->path.blocks.reset();
  for (std::int32_t& component : job->path.components)
    component = job->words.same(with_.components, component);
  const auto hole = Job::first_hole - static_cast<std::int32_t>(job_->children.size());
  for (std::size_t i = 0; i < tasks.size(); i++)
    tree_of(tasks[i]).add(hole, static_cast<std::int32_t>(i), 0,
                          totals.subspan(0, with_.statistics.width()));
  job_->children.push_back(std::move(job));
}

// Adds a node to each task's tree; those that are not leaves yet are the bundle's.
void Growth::add_nodes(std::span<const std::int32_t> tasks, std::span<const double> totals,
                       std::int32_t level, Bundle& bundle) {
  const std::size_t width = with_.statistics.width();
  bundle.growing.clear();
  bundle.all.clear();
  folds_here_.clear();
  for (std::size_t i = 0; i < tasks.size(); i++) {
    const auto own = totals.subspan(i * width, width);
    tree_of(tasks[i]).add(-1, -1, prediction(own), own);
    if (stops(own, level)) continue;
    bundle.growing.push_back(tasks[i]);
    folds_here_.push_back(folds_[static_cast<std::size_t>(tasks[i])]);
    bundle.all.insert(bundle.all.end(), own.begin(), own.end());
  }
}

void Growth::refine(Path& path, std::vector<std::uint64_t>& own, LocalTable table,
                    std::span<const std::int32_t> tasks, std::span<const double> totals,
                    std::int32_t level) {
  const std::size_t width = with_.statistics.width();
  if (bundles_.size() <= static_cast<std::size_t>(level)) bundles_.emplace_back();
  Bundle& bundle = bundles_[static_cast<std::size_t>(level)];
  with_.facts.watch.look();
  add_nodes(tasks, totals, level, bundle);
  if (bundle.growing.empty()) return with_.facts.watch.done(with_.statistics.n(totals));

  std::size_t n_own = 0;
  for (std::size_t w = 0; level == 0 && w < own.size(); w++)
    n_own += static_cast<std::size_t>(std::popcount(own[w]));
  const auto go_on = [&, large = n_own > settings_.alone](
                         Path& next, std::vector<std::uint64_t>& examples, LocalTable& theirs,
                         auto here, auto sums) {
    if (large) return leave(next, examples, std::move(theirs), here, sums, level + 1);
    handed_down_ -= theirs.bytes();
    refine(next, examples, std::move(theirs), here, sums, level + 1);
  };
  // a single task does not need the examples it leaves out
  if (bundle.growing.size() == 1 && folds_here_[0] >= 0) {
    if (LocalTable rest; with_.statistics.leave_out(folds_here_[0], own) && table.size() > 0) {
      table.part(own, &rest, nullptr);
      table = std::move(rest);
    }
    folds_here_[0] = -1;
  }
  if (!settings_.caching ||
      static_cast<std::size_t>(settings_.n_threads) * with_.truth.bytes() + handed_down_ >
          settings_.memory) {
    with_.truth.forget();
    with_.refinement.forget();
    path.blocks.reset();
  }
  if (!path.blocks)
    path.blocks =
        std::make_shared<const std::vector<Part>>(with_.refinement.blocks(path.components));
  candidates_.start(with_.refinement, path.components, *path.blocks);
  barred_.clear();
  for (std::size_t s = 0; s < path.uses.size(); s++)
    if (settings_.max_uses[s] >= 0 && path.uses[s] >= settings_.max_uses[s]) {
      barred_.resize(path.uses.size(), 0);
      barred_[s] = 1;
    }
  if (table.size() == 0) table_.start(with_.attributes, own);
  const Demand demand{settings_.criterion,
                      settings_.minimal_cases,
                      folds_here_,
                      barred_,
                      path.bound,
                      path.ages,
                      own,
                      bundle.all,
                      table.size() == 0 ? table_ : table,
                      with_.statistics.n_examples() <= settings_.memory >> 17};
  choice_.best(candidates_, demand, bundle.best, bundle.cuts, bundle.passed);
  fork(path, bundle);
  part(demand, bundle, level);
  table = {};
  const auto depth = static_cast<std::size_t>(job_->level + level);
  if (levels_.size() <= depth) levels_.resize(depth + 1);
  Level& counters = levels_[depth];
  counters.bundles++;
  counters.nodes += static_cast<std::int64_t>(bundle.growing.size());
  counters.tests += static_cast<std::int64_t>(bundle.forks.size());
  counters.candidates += static_cast<std::int64_t>(candidates_.size);

  auto& [growing, best, splitting, agreeing, tests, cuts, all, passed, yes_totals, no_totals, nodes,
         forks] = bundle;
  with_.facts.watch.done(with_.statistics.n(totals) - with_.statistics.n(yes_totals) -
                         with_.statistics.n(no_totals));
  nodes.resize(agreeing.size());
  for (Fork& fork : forks) {
    const std::size_t n = fork.end - fork.begin;
    const auto here = std::span(agreeing).subspan(fork.begin, n);
    for (std::size_t i = fork.begin; i < fork.end; i++) {
      Tree& tree = tree_of(agreeing[i]);
      nodes[i] = tree.size() - 1;
      tree.test.back() = tests[i];
    }
    go_on(fork.path, fork.yes, fork.yes_table, here,
          std::span(yes_totals).subspan(fork.begin * width, n * width));
    for (std::size_t i = fork.begin; i < fork.end; i++) {
      Tree& tree = tree_of(agreeing[i]);
      tree.no[nodes[i]] = static_cast<std::int32_t>(tree.size());
    }
    go_on(path, fork.no, fork.no_table, here,
          std::span(no_totals).subspan(fork.begin * width, n * width));
  }
}

// Splits the examples, and the table where that saves work, by the test of each fork.
void Growth::part(const Demand& demand, Bundle& bundle, std::int32_t level) {
  const std::size_t width = with_.statistics.width();
  const bool saves = settings_.caching && (with_.attributes.size() > 0 || !demand.keeps_tables);
  for (Fork& fork : bundle.forks) {
    // an example that a task's own threshold would send elsewhere is one that the task leaves out
    if (fork.cut.attribute >= 0)
      with_.attributes.split(fork.cut, fork.cut.low, demand.examples, fork.yes, fork.no);
    else choice_.split(candidates_, fork.candidate, demand, fork.yes, fork.no);
    const auto goes_on = [&](const std::vector<double>& totals) {
      for (std::size_t i = fork.begin; i < fork.end; i++)
        if (!stops(std::span(totals).subspan(i * width, width), level + 1)) return true;
      return false;
    };
    if (!saves || handed_down_ > settings_.memory / 2) continue;
    LocalTable* const yes = goes_on(bundle.yes_totals) ? &fork.yes_table : nullptr;
    LocalTable* const no = goes_on(bundle.no_totals) ? &fork.no_table : nullptr;
    if (yes || no) demand.table.part(fork.yes, yes, no);
    handed_down_ += fork.yes_table.bytes() + fork.no_table.bytes();
  }
}

// Tasks that agree on a test stay together: lists them fork by fork, with the statistics of their
// branches.
void Growth::fork(const Path& path, Bundle& bundle) {
  const std::size_t width = with_.statistics.width();
  auto& [growing, best, splitting, agreeing, tests, cuts, all, passed, yes_totals, no_totals, nodes,
         forks] = bundle;
  splitting.clear();
  for (std::size_t i = 0; i < growing.size(); i++)
    if (best[i] >= 0 && accepts(std::span(all).subspan(i * width, width),
                                std::span(passed).subspan(i * width, width)))
      splitting.push_back(static_cast<std::int32_t>(i));
  const auto chosen_by = [&best = best](std::int32_t i) {
    return best[static_cast<std::size_t>(i)];
  };
  const auto key = [&, &cuts = cuts](std::int32_t i) {
    const Cut& cut = cuts[static_cast<std::size_t>(i)];
    return std::tuple(chosen_by(i), cut.attribute, cut.above, cut.low, cut.high, i);
  };
  std::sort(splitting.begin(), splitting.end(),
            [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  agreeing.clear();
  tests.clear();
  yes_totals.clear();
  no_totals.clear();
  forks.clear();
  for (std::int32_t each : splitting) {
    const auto i = static_cast<std::size_t>(each);
    const Cut& cut = cuts[i];
    const bool same = !forks.empty() && forks.back().candidate == best[i] &&
                      forks.back().cut.same_column(cut) &&
                      (cut.attribute < 0 || cut.low < forks.back().cut.high);
    if (!same) {
      forks.push_back({best[i], agreeing.size(), agreeing.size(), path, cut, {}, {}, {}, {}});
      if (cut.attribute < 0)
        forks.back().path = extend(path, choose(candidates_, best[i]), job_->tests.emplace_back());
    }
    Fork& fork = forks.back();
    fork.cut.low = cut.low;  // they come by ascending low values
    fork.cut.high = std::min(fork.cut.high, cut.high);
    if (cut.attribute >= 0 && (!same || job_->tests.back().threshold != cut.threshold()))
      job_->tests.push_back(
          {{}, -1, static_cast<std::int32_t>(path.variables.size()), cut, cut.threshold()});
    tests.push_back(static_cast<std::int32_t>(job_->tests.size()) - 1);
    fork.end++;
    agreeing.push_back(growing[i]);
    for (std::size_t c = i * width; c < (i + 1) * width; c++) {
      yes_totals.push_back(passed[c]);
      no_totals.push_back(all[c] - passed[c]);
    }
  }
}

// Adds a candidate to a path: joined components are replaced by the result, the others stay.
Path Growth::extend(const Path& path, const Chosen& chosen, Test& test) {
  const Extension& extension = extension_;
  with_.components.extend(chosen.block->components, chosen.code(), chosen.new_types(), extension_);
  Path longer;
  longer.components.reserve(path.components.size() + extension.parts.size());
  longer.variables.reserve(path.variables.size() + extension.places.size());
  auto& [moved, first, path_number] = scratch_of_extend_;
  moved.assign(path.components.size(), -1);  // position of a component that stays
  first.assign(path.components.size(), 0);   // local number of a joined component's first variable
  std::int32_t n_local = 0;
  for (std::size_t p = 0; p < chosen.positions.size(); p++) {
    first[static_cast<std::size_t>(chosen.positions[p])] = n_local;
    n_local +=
        static_cast<std::int32_t>(with_.components[chosen.block->components[p]].types.size());
  }
  for (std::size_t c = 0; c < path.components.size(); c++)
    if (std::find(chosen.positions.begin(), chosen.positions.end(), static_cast<std::int32_t>(c)) ==
        chosen.positions.end()) {
      moved[c] = static_cast<std::int32_t>(longer.components.size());
      longer.components.push_back(path.components[c]);
    }
  const auto offset = static_cast<std::int32_t>(longer.components.size());
  longer.components.insert(longer.components.end(), extension.parts.begin(), extension.parts.end());
  path_number.assign(extension.places.size(), -1);  // of a local variable
  for (std::size_t v = 0; v < path.variables.size(); v++) {
    const auto at = static_cast<std::size_t>(path.variables[v].part);
    if (moved[at] >= 0) {
      longer.variables.push_back({moved[at], path.variables[v].variable});
      continue;
    }
    const auto local = static_cast<std::size_t>(first[at] + path.variables[v].variable);
    path_number[local] = static_cast<std::int32_t>(v);
    longer.variables.push_back(
        {offset + extension.places[local].part, extension.places[local].variable});
  }
  for (auto local = static_cast<std::size_t>(n_local); local < extension.places.size(); local++) {
    path_number[local] = static_cast<std::int32_t>(longer.variables.size());
    longer.variables.push_back(
        {offset + extension.places[local].part, extension.places[local].variable});
  }
  longer.uses = path.uses;
  longer.uses[static_cast<std::size_t>(
      with_.refinement.language().modes[static_cast<std::size_t>(chosen.mode())].source)]++;
  longer.bound = path.bound;
  const auto bindings = chosen.bindings();
  for (std::size_t b = 0; b < bindings.size(); b += 2)
    longer.bound[static_cast<std::size_t>(bindings[b])] = bindings[b + 1];
  longer.set_ages(with_.components);

  test.literals.assign(chosen.code().begin(), chosen.code().end());
  test.query = extension.query;
  test.n_variables = static_cast<std::int32_t>(path.variables.size());
  with_.components.rename(test.literals, [&numbers = path_number](std::int32_t v) {
    return numbers[static_cast<std::size_t>(v)];
  });
  return longer;
}

bool Growth::stops(std::span<const double> all, std::int32_t level) const {
  if (job_->level + level == settings_.max_depth) return true;
  // numbers that differ by no more, as a share of their squares, differ by rounding only
  constexpr double rounding = 1e-30;
  const Moments& moments = with_.statistics.moments();
  if (with_.statistics.is_regression())
    return moments.n(all.data()) < 2.0 * settings_.minimal_cases ||
           moments.deviations(all.data()) <= rounding * moments.squares(all.data());
  const double n = with_.statistics.n(all), most = *std::max_element(all.begin(), all.end());
  return n - most < settings_.minimal_cases || most >= settings_.accuracy * n;
}

// Regression: is the variance between the two branches significant (F with 1 and n - 2 degrees of
// freedom)?
bool Growth::accepts(std::span<const double> all, std::span<const double> yes) const {
  if (!with_.statistics.is_regression()) return true;
  const Moments& moments = with_.statistics.moments();
  std::vector<double> no(all.size());
  for (std::size_t k = 0; k < no.size(); k++) no[k] = all[k] - yes[k];
  const double n = moments.n(all.data());
  const double within = moments.deviations(yes.data()) + moments.deviations(no.data());
  const double between = moments.deviations(all.data()) - within;
  if (within <= 0 || n <= 2) return between > 0;
  return between * (n - 2) >= settings_.critical_f[static_cast<std::size_t>(n)] * within;
}

// The majority class, the first or last of those that tie; for regression the mean.
double Growth::prediction(std::span<const double> all) const {
  if (with_.statistics.is_regression()) return with_.statistics.moments().mean(all.data());
  std::size_t most = 0;
  for (std::size_t c = 1; c < all.size(); c++)
    if (all[c] > all[most] || (all[c] == all[most] && settings_.last_of_ties)) most = c;
  return static_cast<double>(most);
}

}  // namespace crosscut::query

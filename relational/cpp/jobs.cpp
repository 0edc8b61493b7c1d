// Threads that grow a forest. Each has its own components, truth and candidates, and takes jobs
// from waiting lists (base/waiting.hpp). `Assembly` joins what they have grown; the result does not
// depend on which thread grew what.
#include <chrono>
#include <thread>

#include "base/waiting.hpp"
#include "growth.hpp"

namespace crosscut::query {

namespace {

// What a thread needs besides what all share.
struct Helper {
  Helper(const Growing& from, const Settings& settings, std::span<const std::int32_t> folds,
         std::atomic<std::size_t>& handed_down)
      : components(from.facts),
        truth(from.facts, components, from.truth.step_limit(), from.truth.order()),
        refinement(components, from.refinement.language()),
        growth({from.facts, components, truth, refinement, from.statistics, from.attributes},
               settings, folds, handed_down) {}
  Components components;
  Truth truth;
  Refinement refinement;
  Growth growth;
};

void work(Growth& growth, int me, WaitingLists<Job>& waiting, Watch& watch) {
  const auto next = [&] {
    if (me > 0) return waiting.next(me);
    return waiting.next(me, [&](std::uint32_t) {  // the caller goes on asking whether to stop
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      watch.look();
    });
  };
  while (const Job::Pointer job = next()) {
    growth.grow(*job);
    for (const auto& child : job->children) waiting.add(me, Job::Pointer(child.get()));
    waiting.finished();
  }
}

// Puts together what jobs have grown.
struct Assembly {
  const Growing& from;
  Forest forest;

  // The tests of a job and of those below it; here they get their constants and the queries of the
  // caller's components.
  void add_tests(Job& job) {
    job.first_test = static_cast<std::int32_t>(forest.tests.size());
    for (Test& test : job.tests) {
      if (test.query < 0) {
        const Term of =
            term(fixed, from.attributes.variables()[static_cast<std::size_t>(test.cut.attribute)]);
        test.literals = {(test.cut.above ? greater : at_most) * 2, of,
                         term(constant, from.facts.add_number(test.threshold))};
      } else if (&job.by->components() != &from.components) {
        test.query = from.components.same(job.by->components(), test.query);
      }
      forest.tests.push_back(std::move(test));
    }
    for (const auto& child : job.children) add_tests(*child);
  }

  void add_tree(Job& job, std::size_t place, Tree& to) {
    const Tree tree = std::move(job.trees[place]);
    const std::size_t width = from.statistics.width();
    std::vector<std::int32_t> moved;
    for (std::size_t i = 0; i < tree.size(); i++) {
      moved.push_back(static_cast<std::int32_t>(to.size()));
      if (tree.test[i] <= Job::first_hole)
        add_tree(*job.children[static_cast<std::size_t>(Job::first_hole - tree.test[i])],
                 static_cast<std::size_t>(tree.no[i]), to);
      else
        to.add(tree.test[i] < 0 ? -1 : job.first_test + tree.test[i], -1, tree.prediction[i],
               std::span(tree.statistics).subspan(i * width, width));
    }
    for (std::size_t i = 0; i < tree.size(); i++)
      if (tree.test[i] >= 0)
        to.no[static_cast<std::size_t>(moved[i])] = moved[static_cast<std::size_t>(tree.no[i])];
  }

  void add_levels(const std::vector<Level>& levels) {
    if (forest.levels.size() < levels.size()) forest.levels.resize(levels.size());
    for (std::size_t i = 0; i < levels.size(); i++) {
      Level& to = forest.levels[i];
      to.bundles += levels[i].bundles;
      to.nodes += levels[i].nodes;
      to.tests += levels[i].tests;
      to.candidates += levels[i].candidates;
    }
  }
};

}  // namespace

Forest grow(const Growing& from, const Settings& given, std::span<const std::int32_t> tasks,
            const Extension& root) {
  Job all{Components(from.facts)};
  all.own = from.truth.everything();
  all.totals = from.statistics.totals(tasks);
  for (std::size_t i = 0; i < tasks.size(); i++) all.tasks.push_back(static_cast<std::int32_t>(i));
  all.path.variables = root.places;
  all.path.uses.assign(given.max_uses.size(), 0);
  all.path.bound.assign(from.refinement.language().n_type_variables, any_type);
  for (std::int32_t part : root.parts)
    all.path.components.push_back(all.words.same(from.components, part));
  all.path.set_ages(all.words);

  Team team(from.statistics.n_examples() > given.alone ? given.n_threads : 1);
  Settings settings = given;
  settings.n_threads = team.size();
  std::atomic<std::size_t> handed_down{0};
  Growth first(from, settings, tasks, handed_down);
  std::vector<std::unique_ptr<Helper>> helpers;
  for (int i = 1; i < team.size(); i++)
    helpers.push_back(std::make_unique<Helper>(from, settings, tasks, handed_down));
  WaitingLists<Job> waiting(team.size());
  waiting.add(0, Job::Pointer(&all));
  Failure failure;
  team.run(team.size(), [&](int i) {
    failure.guard([&] {
      work(i == 0 ? first : helpers[static_cast<std::size_t>(i) - 1]->growth, i, waiting,
           from.facts.watch);
    });
    if (failure.any()) {
      from.facts.watch.halt();
      waiting.stop();
    }
  });
  failure.rethrow();

  Assembly assembly{from, {}};
  assembly.add_tests(all);
  assembly.forest.trees.resize(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); i++)
    assembly.add_tree(all, i, assembly.forest.trees[i]);
  assembly.add_levels(first.levels());
  for (const auto& helper : helpers) {
    assembly.add_levels(helper->growth.levels());
    from.truth.add(helper->truth, from.components, helper->components);
  }
  return std::move(assembly.forest);
}

}  // namespace crosscut::query

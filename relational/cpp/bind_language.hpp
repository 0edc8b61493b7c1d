// The language of tests, passed from Python as tuples. They are checked here and become patterns,
// so the rest of the code can rely on their form.
#pragma once
#include <tuple>
#include <utility>
#include <vector>

#include "bind_facts.hpp"
#include "refine.hpp"

namespace crosscut::query {

using ArgumentTuple = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
using PatternTuple = std::tuple<std::int32_t, bool, std::vector<ArgumentTuple>>;
using Modes = std::vector<std::pair<std::vector<PatternTuple>, std::int32_t>>;
using Lookaheads = std::vector<std::pair<PatternTuple, std::vector<PatternTuple>>>;
using AutoLookaheads = std::vector<std::pair<PatternTuple, std::vector<std::int32_t>>>;

inline void check_type(std::int32_t type) {
  need(type > first_type_variable - (1 << 16), "a type variable is too large");
}

inline Pattern pattern_of(const FactStore& store, const PatternTuple& given) {
  const auto& [predicate, negated, args] = given;
  store.check_predicate(predicate, args.size());
  Pattern pattern{predicate, negated, {}};
  for (const auto& [mark, slot, type, value] : args) {
    need(mark >= 0 && mark <= static_cast<std::int32_t>(Mark::shared),
         "an argument has an unknown mark");
    need(slot < 1 << 16, "a slot is too large");
    check_type(type);
    pattern.args.push_back({static_cast<Mark>(mark), slot, type, value});
    if (pattern.args.back().mark == Mark::given) store.check_term(value, 0, true);
  }
  return pattern;
}

inline std::vector<Pattern> patterns_of(const FactStore& store,
                                        const std::vector<PatternTuple>& given) {
  std::vector<Pattern> result;
  for (const PatternTuple& each : given) result.push_back(pattern_of(store, each));
  return result;
}

inline std::vector<Mode> modes_of(const FactStore& store, const Modes& given) {
  std::vector<Mode> result;
  for (const auto& [literals, source] : given) {
    need(source >= 0 && !literals.empty(),
         "a mode needs literals and a source that is not negative");
    result.push_back({patterns_of(store, literals), source});
  }
  return result;
}

}  // namespace crosscut::query

// The facts of a database, passed from Python. All input from Python is checked here and in the
// other bind files; the rest of the code relies on it.
#pragma once
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>

#include "base/arrays.hpp"
#include "components.hpp"
#include "relations.hpp"

namespace crosscut::query {

using Literal = std::tuple<std::int32_t, bool, std::vector<Term>>;

inline constexpr std::size_t max_arity = 64;

// The message is made only when needed.
#define CROSSCUT_REQUIRE(CONDITION, MESSAGE)                \
  do {                                                      \
    if (!(CONDITION)) throw std::invalid_argument(MESSAGE); \
  } while (false)

class FactStore {
 public:
  FactStore(Matrix<std::int32_t> fixed, Array<double> numbers)
      : facts(fixed.shape(0), fixed.shape(1), {fixed.data(), fixed.data() + fixed.size()},
              {numbers.data(), numbers.data() + numbers.size()}) {
    check_constants(fixed.data(), fixed.size(), "fixed");
  }
  FactStore(const FactStore&) = delete;

  std::int32_t add_relation(Matrix<std::int32_t> columns, std::vector<std::uint64_t> missing,
                            std::uint64_t row_key) {
    CROSSCUT_REQUIRE(missing.empty() || missing.size() == columns.shape(1),
                     "missing needs one number per fact");
    CROSSCUT_REQUIRE(
        columns.shape(0) <= max_arity,
        "columns has " + std::to_string(columns.shape(0)) + " columns; 64 are possible");
    check_constants(columns.data(), columns.size(), "columns");
    return facts.add_relation(columns.data(), columns.shape(0), columns.shape(1),
                              std::move(missing), row_key);
  }

  std::int32_t add_rule(std::size_t arity, const std::vector<std::vector<Literal>>& bodies) {
    CROSSCUT_REQUIRE(arity <= max_arity, "arity is " + std::to_string(arity) + "; 64 is the most");
    Rule rule{arity, {}};
    for (const auto& body : bodies) {
      auto& goals = rule.bodies.emplace_back();
      for (const auto& [predicate, negated, args] : body) {
        check_literal(predicate, args, 1 << 16, false);
        goals.push_back({predicate, negated, args});
      }
    }
    return facts.add_rule(std::move(rule));
  }

  double number(std::int32_t constant) const {
    check_constants(&constant, 1, "constant");
    return facts.number(constant);
  }

  void check_constants(const std::int32_t* values, std::size_t n, const char* name) const {
    const auto limit = static_cast<std::int64_t>(facts.n_constants());
    for (std::size_t i = 0; i < n; i++)
      CROSSCUT_REQUIRE(values[i] >= 0 && values[i] < limit,
                       std::string(name) + " holds " + std::to_string(values[i]) +
                           ", but constants are numbered 0.." + std::to_string(limit - 1));
  }

  void check_predicate(std::int32_t predicate, std::size_t arity) const {
    CROSSCUT_REQUIRE(
        predicate >= 0 && static_cast<std::size_t>(predicate) < facts.predicates().size(),
        "predicate " + std::to_string(predicate) + " was not added");
    const std::size_t known = facts.predicates()[static_cast<std::size_t>(predicate)].arity;
    CROSSCUT_REQUIRE(known == arity, "predicate " + std::to_string(predicate) + " has " +
                                         std::to_string(known) + " arguments, not " +
                                         std::to_string(arity));
  }

  void check_literal(std::int32_t predicate, const std::vector<Term>& args, std::size_t n_variables,
                     bool fixed_allowed) const {
    check_predicate(predicate, args.size());
    for (Term t : args) check_term(t, n_variables, fixed_allowed);
  }

  void check_term(Term t, std::size_t n_variables, bool fixed_allowed) const {
    CROSSCUT_REQUIRE(t >= 0, "terms are not negative");
    const auto number = static_cast<std::size_t>(number_of(t));
    switch (kind_of(t)) {
      case constant:
        CROSSCUT_REQUIRE(number < facts.n_constants(), "a literal has an unknown constant");
        break;
      case fixed:
        CROSSCUT_REQUIRE(fixed_allowed && number < facts.n_fixed(),
                         "a literal has an unknown fixed variable");
        break;
      case variable:
        CROSSCUT_REQUIRE(number < n_variables, "a literal has an unknown variable");
        break;
      default:
        CROSSCUT_REQUIRE(false, "a literal has a term of no kind");
    }
  }

  Facts facts;
};

// Literals in Python's form.
inline std::vector<Literal> decode(const Components& components, std::span<const Term> code) {
  std::vector<Literal> result;
  for (std::size_t at = 0; at < code.size(); at += components.length(code[at]))
    result.emplace_back(code[at] >> 1, code[at] & 1,
                        std::vector<Term>(code.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                          code.begin() + static_cast<std::ptrdiff_t>(
                                                             at + components.length(code[at]))));
  return result;
}

}  // namespace crosscut::query

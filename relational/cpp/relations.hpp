// Facts and queries on them: relations as integer columns with hash indexes by bound columns, the
// six comparisons, and rules that are tests once their arguments are bound.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "watch.hpp"

namespace crosscut::query {

// A term of a literal in one integer: the kind in the low two bits, a number above them. Constants
// are numbers of the database's symbol table; fixed variables have one value per example (its key,
// the variables of a functional root); the others are the query's own.
using Term = std::int32_t;
enum Kind : Term { constant = 0, fixed = 1, variable = 2 };
inline Term term(Kind kind, std::int32_t number) { return static_cast<Term>(number << 2 | kind); }
inline Kind kind_of(Term t) { return static_cast<Kind>(t & 3); }
inline std::int32_t number_of(Term t) { return t >> 2; }

// Predicates 0..5 compare; the others are relations or rules in the order in which they were added.
enum Comparison : std::int32_t {
  equal,
  different,
  less,
  at_most,
  greater,
  at_least,
  n_comparisons
};

// Rows of one relation grouped by the values of some of its columns, so that a lookup gives a
// contiguous range. The first key column, most often the example's key, picks a region of the
// table; the others are hashed inside it. A query stays within one example at a time, so its
// lookups stay within a few cache lines.
class Index {
 public:
  using Column = std::vector<std::int32_t>;
  // `missing`: per row the columns that hold a missing link, one bit each, or empty. Such a row is
  // not found by these columns.
  Index(const std::vector<Column>& columns, std::size_t n_rows, std::uint64_t key,
        const std::vector<std::uint64_t>& missing);
  struct Range {
    std::uint32_t begin, end;
  };
  Range find(const std::int32_t* key) const {
    const Region* region = region_of(key[0]);
    if (region == nullptr) return {0, 0};
    if (key_.size() == 1) return {region->begin, region->end};
    return find_within(*region, key);
  }
  std::uint32_t row(std::uint32_t position) const { return order_[position]; }

 private:
  struct Region {
    std::uint32_t begin = 0, end = 0;   // its rows
    std::uint32_t slots = 0, mask = 0;  // its part of the hash table
  };
  const Region* region_of(std::int32_t value) const;
  Range find_within(const Region& region, const std::int32_t* key) const;
  std::vector<const std::int32_t*> key_;  // the key's columns
  // rows, equal keys together, each group in the order of the facts
  std::vector<std::uint32_t> order_;
  // regions are addressed by value - least_, or found in values_ if those spread too far
  std::int32_t least_ = 0;
  std::vector<std::int32_t> values_;
  std::vector<Region> regions_;
  std::vector<Range> slots_;  // open addressing; an empty range is a free slot
};

class Relation {
 public:
  // `missing`: see Index. A row that is looked up by one of the columns in `row_key` is the same
  // row, so that its missing links match themselves.
  Relation(const std::int32_t* values, std::size_t arity, std::size_t n_rows,
           std::vector<std::uint64_t> missing, std::uint64_t row_key);
  Relation(const Relation&) = delete;  // its indexes refer to its columns
  std::size_t arity() const { return columns_.size(); }
  std::size_t n_rows() const { return n_rows_; }
  std::int32_t at(int column, std::uint32_t row) const {
    return columns_[static_cast<std::size_t>(column)][row];
  }
  // by a set of columns, one bit each; built when first asked for, by any thread
  const Index& index(std::uint64_t key);

 private:
  std::size_t n_rows_;
  std::vector<std::vector<std::int32_t>> columns_;
  std::vector<std::uint64_t> missing_;
  std::uint64_t row_key_;
  struct Known {
    std::uint64_t key;
    Index index;
    std::unique_ptr<Known> older;
  };
  const Index* find(std::uint64_t key) const;
  std::unique_ptr<Known> indexes_;
  std::atomic<const Known*> newest_{nullptr};  // what threads see of them
  std::mutex building_;
};

// A goal of a rule's body, over the rule's arguments (variables 0..arity-1) and variables local to
// the body.
struct Goal {
  std::int32_t predicate;
  bool negated;
  std::vector<Term> args;
};

struct Rule {
  std::size_t arity;
  std::vector<std::vector<Goal>> bodies;  // holds if one of them does
};

struct Predicate {
  std::size_t arity;
  std::int32_t relation = -1;  // number in `relations`, or
  std::int32_t rule = -1;      // number in `rules`; neither for a comparison
  std::int32_t test = -1;      // the comparison that it is, or that is all its rule says
};

class Facts {
 public:
  Facts(std::size_t n_examples, std::size_t n_fixed, std::vector<std::int32_t> fixed,
        std::vector<double> numbers);
  std::int32_t add_relation(const std::int32_t* values, std::size_t arity, std::size_t n_rows,
                            std::vector<std::uint64_t> missing, std::uint64_t row_key);
  std::int32_t add_rule(Rule rule);

  std::size_t n_examples() const { return n_examples_; }
  std::size_t n_fixed() const { return n_fixed_; }
  std::size_t n_constants() const { return numbers_.size(); }
  double number(std::int32_t constant) const {
    return numbers_[static_cast<std::size_t>(constant)];
  }
  std::int32_t add_number(double value) {  // as a new constant
    numbers_.push_back(value);
    return static_cast<std::int32_t>(numbers_.size()) - 1;
  }
  mutable Watch watch;
  const std::vector<Predicate>& predicates() const { return predicates_; }
  Relation& relation(const Predicate& p) {
    return *relations_[static_cast<std::size_t>(p.relation)];
  }
  const std::int32_t* fixed_of(std::size_t example) const {
    return fixed_.data() + example * n_fixed_;
  }
  bool compare(std::int32_t comparison, std::int32_t left, std::int32_t right) const;
  // Whether a predicate holds for constants; a rule's body may bind variables of its own.
  bool holds(std::int32_t predicate, const std::int32_t* values, std::uint64_t& steps);

 private:
  bool body_holds(const std::vector<Goal>& body, std::size_t goal,
                  std::vector<std::int32_t>& values, std::uint64_t& steps);
  std::size_t n_examples_, n_fixed_;
  std::vector<std::int32_t> fixed_;
  std::vector<double> numbers_;
  std::vector<Predicate> predicates_;
  std::vector<std::unique_ptr<Relation>> relations_;
  std::vector<Rule> rules_;
};

}  // namespace crosscut::query

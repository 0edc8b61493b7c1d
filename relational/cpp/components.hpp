// Queries, split into components that share no variables except the example's fixed ones. A query
// is true where all its components are, so truth is stored per component. Each is registered once,
// under a form that does not depend on the names of its variables or the order of its literals.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "number_table.hpp"
#include "relations.hpp"

namespace crosscut::query {

// A conjunction as one array: per literal 2 * predicate + negated, then its terms.
using Code = std::vector<Term>;

constexpr std::int32_t any_type = -1;  // matches every type
constexpr std::int32_t hidden = -2;    // a variable of a negated literal: not visible outside it
// this and below: a type that is bound by its first use on a path
constexpr std::int32_t first_type_variable = -3;

// A component, or a conjunction of components, as views into the arrays that hold all of them.
struct Component {
  std::span<const Term> code;  // in the order of evaluation; variables numbered by first occurrence
  std::span<const std::int32_t> types;  // per variable
  // not empty: the conjunction of these components, which share no variable
  std::span<const std::int32_t> parts;
  std::int32_t n_literals;
  std::int32_t parent;  // component whose code is the first `prefix` terms of this one, or -1
  std::size_t prefix;
  bool joins;  // whether the part after the prefix contains another component
};

struct Place {
  std::int32_t part, variable;
};

// The result of adding literals to some components.
struct Extension {
  // the component, or the conjunction of `parts`, that the new literals are in
  std::int32_t query = -1;
  std::vector<std::int32_t> parts;
  std::vector<Place> places;  // where each local variable is afterwards
};

class Components {
 public:
  explicit Components(const Facts& facts) : facts_(facts) {}
  const Facts& facts() const { return facts_; }
  std::size_t size() const { return all_.size(); }
  // Views are valid until the next component is added.
  Component operator[](std::int32_t id) const {
    const Record& r = all_[static_cast<std::size_t>(id)];
    const std::int32_t* at = store_.data() + r.begin;
    const std::span<const std::int32_t> parts(at, r.n_parts);
    return {{at + r.n_parts, r.n_terms},
            {at + r.n_parts + r.n_terms, r.n_variables},
            parts,
            r.n_literals,
            r.parent,
            r.prefix,
            r.joins};
  }

  // Adds the literals of `added` to the bases. Local variables: those of the bases one after the
  // other, then new ones, whose types are given. Every base must share a variable with a new
  // literal.
  void extend(std::span<const std::int32_t> bases, std::span<const Term> added,
              std::span<const std::int32_t> new_types, Extension& result);
  Extension extend(std::span<const std::int32_t> bases, std::span<const Term> added,
                   std::span<const std::int32_t> new_types) {
    Extension result;
    extend(bases, added, new_types, result);
    return result;
  }

  // From here on a component is found in the words in which it comes first from here on, whatever
  // was added before. So what a query takes to evaluate, which step limits depend on, does not
  // depend on what a thread did before.
  void start() { start_ = n_found_; }
  // A number that grows in the order in which components were first found since then.
  std::int64_t found(std::int32_t component) const {
    return all_[static_cast<std::size_t>(component)].found;
  }
  // A query, component or conjunction, of other Components, in the same words.
  std::int32_t same(const Components& other, std::int32_t query);

  // Calls visit(literal's first term, its length) for each literal of a code.
  template <class Visit> void each_literal(std::span<const Term> code, Visit visit) const {
    for (std::size_t i = 0; i < code.size();) {
      const std::size_t n = length(code[i]);
      visit(code.data() + i, n);
      i += n;
    }
  }
  // Gives each variable of a code the number rename(its own).
  template <class Rename> void rename(std::span<Term> code, Rename rename) const {
    for (std::size_t i = 0, end; i < code.size(); i = end) {
      end = i + length(code[i]);
      for (std::size_t j = i + 1; j < end; j++)
        if (kind_of(code[j]) == variable) code[j] = term(variable, rename(number_of(code[j])));
    }
  }
  std::size_t length(Term head) const {
    return 1 + facts_.predicates()[static_cast<std::size_t>(head >> 1)].arity;
  }

 private:
  static std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
    h ^= value + 0x9E3779B97F4A7C15ull;
    h *= 0xBF58476D1CE4E5B9ull;
    return h ^ (h >> 31);
  }
  bool extend_one(std::int32_t base, std::span<const Term> added,
                  std::span<const std::int32_t> new_types, Extension& result);
  // `literally`: if it is known in other words, it is added all the same.
  std::int32_t intern(std::int32_t parent, std::size_t prefix, bool joins, bool literally = false);
  std::int32_t conjunction(std::vector<std::int32_t> parts);
  void add_local(Code& code, std::int32_t base, std::size_t offset) const;
  void order_rest(std::size_t n_variables);

  // A form of a component that does not depend on the names of its variables or the order of its
  // literals.
  struct Form {
    std::vector<std::int32_t> numbers;  // variable -> its number in the form
    std::vector<std::int32_t> key;
  };
  void canonicalize(std::span<const Term> code, std::span<const std::int32_t> types, Form& form);

  // Where a component's parts, code and types are in store_, one after the other.
  struct Record {
    std::size_t begin;
    std::uint32_t n_parts, n_terms, n_variables;
    std::int32_t n_literals, parent;
    std::size_t prefix;
    // over the literals that each variable is in; components with different hashes are different
    std::uint64_t hash;
    bool joins;
    std::int32_t form = -1;  // in forms_, once another component with this hash has come
    std::int32_t next = -1;  // the next one with this hash
    std::int64_t found = 0;  // as a number among all that were; see start()
  };
  std::int32_t& first_with(std::uint64_t hash) {
    return table_.find(hash, [&](std::int32_t first) {
      return all_[static_cast<std::size_t>(first)].hash == hash;
    });
  }
  std::int32_t add(Record record);
  const Facts& facts_;
  std::vector<Record> all_;
  std::vector<std::int32_t> store_;
  std::vector<Form> forms_;
  NumberTable table_;  // the first component with each hash
  std::size_t n_hashes_ = 0;
  std::int64_t n_found_ = 0, start_ = 0;

  // Scratch of extend and intern, which run once per candidate test: nothing is allocated for a
  // known component.
  std::vector<std::int32_t> types_, owner_, group_, slot_, back_;
  std::vector<std::size_t> offset_, mine_, literals_, by_colour_;
  std::vector<char> done_, bound_;
  std::vector<int> uses_;
  Code code_, rest_, renamed_;
  std::vector<std::int32_t> own_types_;
  // of the variables of code_, to those of the component it was found to be
  std::vector<std::int32_t> renaming_;
  Form form_;
  std::vector<std::uint64_t> colour_, next_;
  std::vector<std::span<const Term>> sorted_;
};

}  // namespace crosscut::query

// Candidate tests of a path: what the language of tests allows to add to its query. Candidates
// whose inputs come from the same components of the path form a block, which is made once for every
// path that has those components. Their form depends only on the types of the components'
// variables, and is generated once for all blocks of a shape.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "components.hpp"
#include "truth.hpp"

namespace crosscut::query {

enum class Mark : std::int32_t {
  given,   // `value`: a constant or a fixed variable, as a term
  input,   // + : a variable that is bound before
  output,  // - : a new variable
  either,  // +- : each bound variable, then a new one
  shared,  // bare: the slot's value if it has one, else a new variable
};

struct Argument {
  Mark mark;
  std::int32_t slot;  // arguments of one slot get the same term; -1 for none
  std::int32_t type;
  Term value;
  // an input whose type some literal produces, so that it may come from a component
  bool counted = false;
};

struct Pattern {
  std::int32_t predicate;
  bool negated;
  std::vector<Argument> args;
};

// `inputs`: how many of its arguments may take a variable of the path.
struct Mode {
  std::vector<Pattern> literals;
  // modes made from one mode by generating constants share it, and its count of uses
  std::int32_t source = 0;
  std::int32_t inputs = 0;
};

// After a literal that matches `first` (given terms, or slots that are bound by the match), `then`
// may be added.
struct Lookahead {
  Pattern first;
  std::vector<Pattern> then;
  std::int32_t inputs = 0;
};

// After a literal that matches `first`, any mode may be added that uses one of the variables in
// `slots`.
struct AutoLookahead {
  Pattern first;
  std::vector<std::int32_t> slots;
};

struct Language {
  std::vector<std::int32_t> fixed_types,
      root_types;  // of the fixed variables; of those of a root that is part of the query
  std::vector<Mode> modes;
  std::vector<Lookahead> lookaheads;
  std::vector<AutoLookahead> auto_lookaheads;
  std::int32_t max_lookahead = 1, exhaustive_lookahead = 0;
  std::size_t n_type_variables = 0;
  std::int32_t most_inputs = 0, most_then_inputs = 0;  // of a mode; of what may follow a literal
};

// Candidates of components with variables of given types. Each has a stretch of four arrays: its
// literals over the local variables of the components, then new ones; the new ones' types; and the
// trail of choices that led to it (mode, then one entry per open argument), which together with the
// age of the path's variables says which candidate comes first.
struct Shape {
  struct Entry {
    std::int32_t mode, n_literals;
    // its stretches end here; they begin where those of the last entry end
    std::uint32_t term_end, type_end, choice_end, binding_end;
  };
  // What may follow an entry by lookahead holds only where the entry does. It has its own shape,
  // made when needed.
  struct Followers {
    std::uint32_t entry,
        first_term;  // the entry; where the literals that are looked ahead from begin in its code
    std::int32_t depth, exhaustive;
    mutable std::shared_ptr<const Shape> shape;
  };
  std::vector<Entry> entries;
  Code added;
  std::vector<std::int32_t> new_types, trail;
  std::vector<std::int32_t> bindings;  // type variables that the test binds, each with its type
  std::vector<Followers> followers;
  // in which tails the entries end, of one component or linking two; a cache
  mutable std::shared_ptr<const Endings> endings;
  std::span<const Term> code(std::size_t e) const { return stretch(added, &Entry::term_end, e); }
  std::span<const std::int32_t> types(std::size_t e) const {
    return stretch(new_types, &Entry::type_end, e);
  }
  std::span<const std::int32_t> choices(std::size_t e) const {
    return stretch(trail, &Entry::choice_end, e);
  }
  std::span<const std::int32_t> bound(std::size_t e) const {
    return stretch(bindings, &Entry::binding_end, e);
  }

 private:
  std::span<const std::int32_t> stretch(const std::vector<std::int32_t>& values,
                                        std::uint32_t Entry::* end, std::size_t e) const {
    const std::uint32_t begin = e == 0 ? 0 : entries[e - 1].*end;
    return std::span(values).subspan(begin, entries[e].*end - begin);
  }
};

// Candidates of one set of components.
struct Block {
  std::shared_ptr<const Shape> shape;
  std::vector<std::int32_t> components;
  // of the shape's entries, as far as they are named; else -1
  mutable std::vector<std::int32_t> queries;
  std::int32_t after = -1;  // the query that all of them extend by lookahead; -1 for none
  // of the shape's followers, as far as they are made
  mutable std::vector<std::shared_ptr<const Block>> followers;
  mutable TruthTable table;  // of the queries: a cache
  std::size_t size() const { return queries.size(); }
  std::size_t width() const { return (size() + 63) / 64; }  // words of a row of the table
};

constexpr std::int32_t new_variable = -1;  // in a trail: `either` took a new variable

struct Candidates;

class Generator;

// A block and the positions of its components on a path.
struct Part {
  static constexpr std::size_t max_joined = 8;  // one test joins at most this many components
  std::shared_ptr<const Block> block;
  std::array<std::int32_t, max_joined> places;
  std::span<const std::int32_t> positions() const {
    return std::span(places).first(block->components.size());
  }
};

class Refinement {
 public:
  Refinement(Components& components, Language language);
  ~Refinement();
  const Language& language() const { return language_; }
  // Blocks of the subsets of these components that some mode can join, without what follows their
  // entries.
  std::vector<Part> blocks(std::span<const std::int32_t> path);
  // Whether all candidates have numbers, so that one that comes in several words is searched for in
  // the first of them. That takes longer, and matters only where searches take too many steps: how
  // many they take depends on the words.
  bool names_all = false;
  // The block of what may follow an entry, by the number of the followers in the shape; empty if
  // nothing may.
  const std::shared_ptr<const Block>& follow(const Block& block, std::size_t number);
  // The query of an entry, from now on one with a number.
  std::int32_t query(const Block& block, std::size_t entry);
  // All candidates of a path, with numbers.
  Candidates candidates(std::span<const std::int32_t> path);
  // Forgets all blocks but the table of tests that extend nothing; returns its size in bytes.
  std::size_t drop_blocks() {
    if (known_.block) first_table_ = std::move(known_.block->table);
    known_ = Known{};
    return first_table_.bytes();
  }
  void forget() {
    known_ = Known{};
    first_table_ = {};
    shapes_.clear();
  }

 private:
  // Blocks by their components in ascending order, as a trie.
  struct Known {
    std::shared_ptr<const Block> block;
    std::unordered_map<std::int32_t, std::unique_ptr<Known>> longer;
  };
  std::shared_ptr<const Block> make(std::shared_ptr<const Shape> shape,
                                    std::span<const std::int32_t> components, std::int32_t after);
  Components& components_;
  Language language_;
  Extension extension_;
  // by the types of the components' variables
  std::map<std::vector<std::int32_t>, std::shared_ptr<const Shape>> shapes_;
  std::size_t max_joined_ = 0;  // maximum number of components that one test can take inputs from
  std::unique_ptr<Generator> generator_;
  std::shared_ptr<const Block> nothing_;  // stands for all blocks without candidates
  Known known_;
  TruthTable first_table_;
};

// Candidates of a path: blocks one after the other.
struct Candidates {
  const Refinement* source = nullptr;  // whose they are
  std::vector<std::int32_t> path;
  std::vector<Part> parts;
  std::vector<std::size_t> first;  // per part: number of its first candidate
  std::size_t size = 0;
  void start(const Refinement& of, std::span<const std::int32_t> on, std::span<const Part> blocks) {
    source = &of;
    path.assign(on.begin(), on.end());
    parts.clear();
    first.clear();
    size = 0;
    for (const Part& part : blocks) add(part);
  }
  void add(Part part) {
    first.push_back(size);
    size += part.block->size();
    parts.push_back(std::move(part));
  }
};

// One candidate, found by its number.
struct Chosen {
  const Block* block;
  std::span<const std::int32_t> positions;
  std::size_t index;
  std::span<const Term> code() const { return block->shape->code(index); }
  std::span<const std::int32_t> new_types() const { return block->shape->types(index); }
  std::span<const std::int32_t> trail() const { return block->shape->choices(index); }
  std::span<const std::int32_t> bindings() const { return block->shape->bound(index); }
  std::int32_t mode() const { return block->shape->entries[index].mode; }
  std::int32_t n_literals() const { return block->shape->entries[index].n_literals; }
};
std::size_t part_of(const Candidates& candidates, std::int32_t number);
Chosen choose(const Candidates& candidates, std::int32_t number);

// Whether a test adds nothing to its path: it is then true wherever the path is, and no task
// chooses it.
bool adds_nothing(const Components& components, const Chosen& chosen);

// Whether one candidate of a path is generated before another: modes in their order, variables from
// the newest (age 0; one per variable of the path, component after component) to the oldest, a new
// one last.
bool generated_before(const Components& components, const Language& language,
                      const Candidates& candidates, const Chosen& left, const Chosen& right,
                      std::span<const std::int32_t> ages);

}  // namespace crosscut::query

// Generates the candidate tests that modes allow for components of a shape, which is the list of
// their variables' types. They are generated once per shape and renamed for each path.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "refine.hpp"

namespace crosscut::query {

inline bool fits(std::int32_t a, std::int32_t b) {
  const auto open = [](std::int32_t type) {
    return type == any_type || type <= first_type_variable;
  };
  return a != hidden && b != hidden && (a == b || open(a) || open(b));
}

inline std::size_t variable_of(std::int32_t type) {
  return static_cast<std::size_t>(first_type_variable - type);
}

// A trail's entry for the number of a mode or rule; entries for variables are their terms.
inline Term entry(std::size_t number) { return term(constant, static_cast<std::int32_t>(number)); }

// Depth-first over the open arguments of a mode's literals, from left to right; what the search
// emits is in the order of generation, up to the order of the variables, which depends on the path.
class Generator {
 public:
  Generator(const Components& components, const Language& language)
      : components_(components), language_(language) {}
  // Tests that start with the literals of a mode, for components like these.
  std::shared_ptr<const Shape> run(std::span<const std::int32_t> components);
  // Tests that go on from an entry of a shape.
  std::shared_ptr<const Shape> run_after(const Shape& from, const Shape::Followers& followers,
                                         std::span<const std::int32_t> components);

 private:
  struct Visible {
    Term term;
    std::int32_t type;
    std::uint64_t base;  // bit of the component it belongs to; 0 for fixed and new variables
  };
  // The conjunction being instantiated.
  struct Frame {
    std::span<const Pattern> literals;
    std::size_t slots;       // where its slots start in slots_; -1: not bound yet
    std::int32_t inputs;     // remaining arguments that may take a variable of the path
    std::size_t first_code;  // where its literals start in code_
    std::int32_t depth, exhaustive;
    std::span<const Term> must_use;  // auto lookahead: at least one of these, if there are any
    bool used;
  };

  void start(Shape& shape, std::span<const std::int32_t> components);
  void begin(std::span<const Pattern> literals, std::int32_t inputs, std::span<const Term> bound,
             std::int32_t depth, std::int32_t exhaustive, std::span<const Term> must_use = {});
  bool can_reach(std::int32_t inputs, std::int32_t depth, std::int32_t exhaustive) const;
  // the literals and arguments that are left, one after the other
  void literal(Frame& frame, std::size_t l);
  void argument(Frame& frame, std::size_t l, std::size_t a);
  void place(Frame& frame, std::size_t l, std::size_t a, Term t);
  void complete(const Frame& frame);
  bool emit();
  // in lookahead.cpp
  bool may_go_on(const Frame& frame);
  void go_on(const Frame& frame);
  bool match(const Pattern& pattern, std::size_t position, std::vector<Term>& slots) const;
  void follow(std::size_t position, std::int32_t depth);

  // A type, as far as it is bound.
  std::int32_t type_of(std::int32_t type) const {
    return type <= first_type_variable ? bound_[variable_of(type)] : type;
  }
  void bind_type(std::int32_t type_variable, std::int32_t type) {
    bound_[variable_of(type_variable)] = type;
    bindings_.push_back(static_cast<std::int32_t>(variable_of(type_variable)));
    bindings_.push_back(type);
  }

  void unbind_type(std::int32_t type_variable) {
    bound_[variable_of(type_variable)] = any_type;
    bindings_.resize(bindings_.size() - 2);
  }

  const Components& components_;
  const Language& language_;
  Shape* shape_ = nullptr;
  std::vector<Visible> scope_;
  std::int32_t n_old_ = 0, mode_ = 0;
  std::uint64_t all_ = 0, touched_ = 0;
  Code code_, slots_, slots_matched_;
  struct Matched {
    std::vector<Term> slots, listed;
  };
  std::deque<Matched> matched_;  // per depth; what is further down stays where it is
  std::vector<std::int32_t> new_types_, trail_;
  std::vector<std::int32_t> bound_,
      bindings_;  // types of the type variables; those bound, each with its type
};

}  // namespace crosscut::query

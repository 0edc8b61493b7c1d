// Refinement of the states of all tasks. A state is a rule during the search. States that cover
// many of the same rows form a bundle, whose rows are sorted and visited once for all of them.
// Results do not depend on the bundle, because candidates have exact sums and a total order.
#pragma once
#include <vector>

#include "search.hpp"

namespace crosscut::rules {

bool better(const Candidate& x, const Candidate& y);

// States that are refined in one pass, one lane each, and their best candidates so far.
struct Bundle {
  Bundle(const std::vector<const State*>& states, const std::vector<std::vector<Candidate>*>& best,
         const Settings& settings, std::size_t width, std::vector<Event>& events);
  Kind kind;
  bool any;
  std::size_t width, n_lanes;
  double least_quality;
  std::vector<const State*> states;
  std::vector<std::vector<Candidate>*> best;
  std::vector<float> least, tolerance;  // per lane
  std::vector<Event>& events;
  void settle();
};

// Finds the best conditions to add to each of some states.
class Refinement {
 public:
  Refinement(const Table& table, const Settings& settings, bool any, Memory& memory);
  // Writes the best conditions of each state to Memory::found.
  void refine(const std::vector<State>& states, std::size_t width);

 private:
  Bundle bundle_of(const std::vector<State>& states, const std::vector<const State*>& members,
                   std::size_t width);
  std::vector<std::vector<const State*>> bundles(std::vector<const State*> states) const;
  void scan(Bundle& bundle);  // rows as lines of bytes, see kernels/scan.cpp
  void walk(Bundle& bundle);  // rows as masks of lanes, see kernels/walk.cpp
  void gather(const Bundle& bundle);
  void make_lines(const Bundle& bundle);
  std::int32_t line_of(std::uint64_t lanes, std::size_t code);
  void make_masks(const Bundle& bundle);
  std::size_t sort_rows(std::size_t f, std::int32_t* sorted);

  const Table& table_;
  const Settings& settings_;
  Memory& memory_;
  bool any_, by_masks_;
  std::size_t n_columns_, most_lanes_;
  // of the bundle being refined:
  std::size_t stride_ = 0, n_lanes_ = 0, n_sets_ = 0;
  std::vector<std::uint64_t> target_lanes_;  // per class
  // per class; classes that are not the target of any lane share a group
  std::vector<std::size_t> group_;
  std::vector<std::int32_t> rows_;
  std::vector<std::uint64_t> lanes_;  // lanes of each of these rows
  std::vector<std::uint8_t> lines_;
  struct Slot {
    std::uint64_t lanes;
    std::size_t group;
    std::int32_t set = -1;
  };
  std::vector<Slot> slots_;                     // hash table: lanes and class of a row to its line
  std::vector<std::vector<std::size_t>> ends_;  // per nominal feature: see Scan
};

}  // namespace crosscut::rules

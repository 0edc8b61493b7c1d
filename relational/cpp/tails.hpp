// Tails: what a query adds to the one it extends, where the two share a single variable, such as
// "and this atom has a bond to an oxygen". Whether a tail holds depends on the object, an example
// and the value of that variable, not on the query before it, so it is cached per (tail, object):
// other trees and longer paths reach the same objects again. Where a query joins two others by what
// it says about a variable of each, such as "and this atom has a bond to that one", it is a tail on
// the first that is linked to the second: the objects that it holds for are cached per (tail,
// object), too.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "pack.hpp"

namespace crosscut::query {

class Tails {
 public:
  Tails(Facts& facts, const Components& components, std::uint64_t limit)
      : facts_(facts), components_(components), limit_(limit) {}
  // Where a component ends in a tail: the variable it is on, the kind (the type of that variable)
  // and its number within.
  struct Place {
    std::int32_t variable = -1, kind = -1, tail = -1;
    std::int32_t linked = -1;  // the other variable of a linked tail
  };
  Place place(std::int32_t component);
  // The same of literals that are added to a component with variables of these types; new ones are
  // numbered after those. If there are two components, the variables of the second from number
  // `second` on, both have to be used.
  Place place(std::span<const Term> added, std::span<const std::int32_t> types,
              std::size_t second = 0);
  // The kind of a variable's tails; of those that are linked to another one's objects.
  std::int32_t kind(std::int32_t type, std::int32_t linked = no_type);
  static constexpr std::int32_t no_type = std::numeric_limits<std::int32_t>::min();
  std::int32_t n_tails(std::int32_t kind) const {
    return static_cast<std::int32_t>(kinds_[static_cast<std::size_t>(kind)]->codes.size());
  }
  // The number of an object.
  std::int32_t object(std::int32_t kind, std::size_t example, std::int32_t value);
  // The tails of a kind that are known to hold for an object, as a bit set; those of `asked` are
  // known afterwards. If some are not known yet, all are searched for: most of the work is the
  // same. Valid until the next call.
  const std::uint64_t* found(std::int32_t kind, std::int32_t object,
                             std::span<const std::uint64_t> asked);
  // The objects that an object is linked to by tails of a kind, and as bit sets by which, one after
  // the other. Valid until the next call.
  struct Links {
    std::span<const std::int32_t> objects;
    const std::uint64_t* held;
    // tails that took too many steps, as a bit set: their links are not known; nullptr for none
    const std::vector<std::uint64_t>* over;
  };
  Links links(std::int32_t kind, std::size_t example, std::int32_t value);
  std::size_t words(std::int32_t kind) const {
    return (kinds_[static_cast<std::size_t>(kind)]->codes.size() + 63) / 64;
  }
  std::int32_t value_of(std::int32_t kind, std::int32_t object) const {
    return static_cast<std::int32_t>(
        kinds_[static_cast<std::size_t>(kind)]->keys[static_cast<std::size_t>(object)] &
        0xFFFFFFFF);
  }
  // The tails that took too many steps for an object, as a bit set; nullptr for none.
  // Whether there are tails on any variable.
  bool gave_up(std::int32_t kind) const {
    return !kinds_[static_cast<std::size_t>(kind)]->given_up.empty();
  }
  const std::vector<std::uint64_t>* given_up(std::int32_t kind, std::int32_t object) const;
  void forget();
  std::size_t bytes() const { return bytes_; }
  std::uint64_t n_steps() const { return steps_; }

 private:
  struct Kind {
    Kind(Facts& facts, const Components& components, std::int32_t type_, std::int32_t linked_)
        : type(type_), linked(linked_), pack(facts, components) {}
    std::int32_t type, linked;          // `linked`: the type of the other objects, or no_type
    Pack pack;                          // all tails, on variable 0
    std::vector<Code> codes;            // per tail
    NumberTable table;                  // tails by the hash of their code
    std::size_t words = 1;              // of a set of tails
    std::vector<std::uint64_t> keys;    // per object: example and value
    std::vector<std::uint64_t> rows;    // per object: the tails known, those found
    NumberTable objects;                // by the hash of their key
    std::vector<std::uint64_t> all;     // every tail
    std::vector<std::uint64_t> opened;  // tails of the choice that the pack has saved
    std::unordered_map<std::int32_t, std::vector<std::uint64_t>> given_up;
    // of linked tails, per object: where its links are, and how many tails were known when they
    // were searched for
    struct Own {
      std::size_t begin = 0, end = 0, held = 0;
      std::size_t n_tails = 0;
    };
    std::vector<Own> own;
    std::vector<std::int32_t> linked_objects;
    std::vector<std::uint64_t> linked_held;
  };
  void search_links(Kind& kind, std::int32_t object);
  std::int32_t number(Kind& kind, const Code& code, std::size_t n_variables);
  void search(Kind& kind, std::int32_t object);

  Facts& facts_;
  const Components& components_;
  std::uint64_t limit_, steps_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<Place> places_;  // per component
  std::vector<char> placed_;
  Code code_;
  std::vector<std::int32_t> renamed_;
  std::vector<std::pair<std::int32_t, std::int32_t>> reports_;
};

// In which tails some queries that extend a component end, variable by variable.
struct Endings {
  struct Run {  // queries in a row whose tails are, too
    std::size_t word, query;
    std::int32_t shift, length;
  };
  struct On {
    std::int32_t variable, kind, linked;
    std::vector<std::uint64_t> asked;  // tails, as a bit set
    std::vector<Run> runs;
  };
  explicit Endings(std::span<const Tails::Place> places);
  std::size_t n_queries;
  std::vector<On> on;
  std::vector<std::size_t> others;  // queries that do not end in a tail
  bool links = false;               // whether there are linked tails
};

}  // namespace crosscut::query

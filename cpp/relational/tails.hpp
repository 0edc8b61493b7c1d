// Tails: what a query adds to the one it extends, where the two share a single variable, such as "and this atom has a
// bond to an oxygen". Whether a tail holds depends on the example and the value of that variable, not on the query before
// it, so it is cached per (tail, example, value): other trees and longer paths reach the same objects again.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pack.hpp"

namespace crosscut::query {

class Tails {
 public:
  Tails(Facts& facts, const Components& components) : facts_(facts), components_(components) {}
  // Where a component ends in a tail: the variable it is on, the kind (the type of that variable) and its number within.
  struct Place {
    std::int32_t variable = -1, kind = -1, tail = -1;
  };
  Place place(std::int32_t component);
  // The tails of a kind that are known to hold for a value, as a bit set; those of `asked` are known afterwards. If
  // some are not known yet, all are searched for, unless the search is for one query alone: most of the work is the
  // same. Valid until the next call.
  std::span<const std::uint64_t> found(std::int32_t kind, Effort& effort, std::int32_t value, std::span<const std::uint64_t> asked);
  void forget();

 private:
  struct Kind {
    Kind(Facts& facts, const Components& components, std::int32_t type_) : type(type_), pack(facts, components, nullptr) {}
    std::int32_t type;
    Pack pack;                          // all tails, on variable 0
    std::vector<Code> codes;            // per tail
    NumberTable table;                  // tails by the hash of their code
    std::size_t words = 1;              // of a set of tails
    std::vector<std::uint64_t> keys;    // open addressing by example and value; ~0: free
    std::vector<std::uint64_t> rows;    // per slot: the tails known, those found
    std::size_t n_objects = 0;
    std::vector<std::uint64_t> all;     // every tail
    std::vector<std::uint64_t> opened;  // tails of the choice that the pack has saved
  };
  std::int32_t number(Kind& kind, const Code& code, std::size_t n_variables);
  std::uint64_t* row(Kind& kind, std::size_t example, std::int32_t value);
  static void rehash(Kind& kind, std::size_t n_slots, std::size_t words);

  Facts& facts_;
  const Components& components_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::vector<Place> places_;           // per component
  std::vector<char> placed_;
  Code code_;
  std::vector<std::int32_t> renamed_;
};

}  // namespace crosscut::query

// Bundles that wait to be refined, each with its rows in one allocation.
#pragma once
#include "base/waiting.hpp"
#include "codes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct WaitingBundle : Bundle {
  HeldCodes codes;
  u32 n_rows;
  u32* ids;  // row numbers in the codes
  u16* masks;
  WaitingBundle *older = nullptr, *newer = nullptr;

  struct End {
    void operator()(WaitingBundle* bundle) const {
      bundle->~WaitingBundle();
      std::free(bundle);
    }
  };
  using Pointer = std::unique_ptr<WaitingBundle, End>;
  HeldStatistics statistics;  // null: the rows must be counted
  // The first of the bundles that wait until this one is counted. Their statistics are their lanes
  // of the parent's; those of the lanes `shared` of this one are to be subtracted.
  Pointer sibling;
  u32 shared = 0;

  // Allocates a bundle; the caller fills in its rows.
  static Pointer make(const Bundle& bundle, const HeldCodes& codes, u32 n_rows) {
    const std::size_t n = n_rows + 1;
    const std::size_t bytes = sizeof(WaitingBundle) + n * (sizeof(u32) + sizeof(u16));
    void* raw = std::malloc(bytes);
    if (!raw) throw std::bad_alloc();
    u32* ids = reinterpret_cast<u32*>(static_cast<char*>(raw) + sizeof(WaitingBundle));
    return Pointer(new (raw)
                       WaitingBundle{bundle, codes, n_rows, ids, reinterpret_cast<u16*>(ids + n)});
  }
};

using Waiting = WaitingLists<WaitingBundle>;

}  // namespace crosscut::CROSSCUT_LEVEL

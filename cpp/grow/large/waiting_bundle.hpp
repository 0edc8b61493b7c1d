// Bundles that wait to be refined, each with its rows in one allocation.
#pragma once
#include "base/waiting.hpp"
#include "codes.hpp"
#include "grow/simd/compress.hpp"

namespace crosscut::CROSSCUT_LEVEL {

// Targets on a grid of their own, [row of the table]; null: on that of the problem.
using HeldProducts = std::shared_ptr<double>;

struct WaitingBundle : Bundle {
  HeldCodes codes;  // the parent's; the table's if there are no `words`
  u32 n_rows;
  u32* rows;   // of the table
  u64* words;  // which of the parent's rows these are, as bits, or null
  u16* masks;
  WaitingBundle *older = nullptr, *newer = nullptr;

  struct End {
    void operator()(WaitingBundle* bundle) const {
      bundle->~WaitingBundle();
      Blocks::give_back(bundle);
    }
  };
  using Pointer = std::unique_ptr<WaitingBundle, End>;
  HeldStatistics statistics;  // null: the rows must be counted
  // The first of the bundles that wait until this one is counted. Their statistics are their lanes
  // of the parent's; those of the lanes `shared` of this one are to be subtracted.
  Pointer sibling;
  u32 shared = 0;
  // The rows that lanes of this bundle have lost since its statistics were counted, and which lanes
  // these are; null if there are none.
  Pointer gone;
  HeldProducts products;

  // Allocates a bundle; the caller fills in its rows. with_words: it will copy its codes.
  static Pointer make(Run& run, const Bundle& bundle, const HeldCodes& codes, u32 n_rows,
                      bool with_words = false) {
    const std::size_t n_words = with_words ? ((*codes).n + 63) / 64 : 0;
    const std::size_t n = n_rows + 1;
    const std::size_t bytes =
        sizeof(WaitingBundle) + n_words * sizeof(u64) + n * (sizeof(u32) + sizeof(u16));
    void* raw = run.blocks.take(bytes);
    u64* words = reinterpret_cast<u64*>(static_cast<char*>(raw) + sizeof(WaitingBundle));
    u32* rows = reinterpret_cast<u32*>(words + n_words);
    return Pointer(new (raw) WaitingBundle{
        bundle, HeldCodes(with_words ? *codes : (*codes).of_table()), n_rows, rows,
        with_words ? words : nullptr, reinterpret_cast<u16*>(rows + n)});
  }

  // Copies column f of the codes.
  void copy_codes(int f, const Codes& own) const {
    u8* to = const_cast<u8*>(own.column[f]);  // allocated by Codes::make
    if (!to) return;
    const u8* from = (*codes).column[f];
    if (words) compress(from, (*codes).n, words, to, to + n_rows);
    else
      for (u32 i = 0; i < n_rows; i++) to[i] = from[rows[i]];
  }
};

using Waiting = WaitingLists<WaitingBundle>;

}  // namespace crosscut::CROSSCUT_LEVEL

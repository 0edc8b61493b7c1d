// Bundles that wait to be refined. Every thread has a list of its own and goes on with its newest, so that work is depth first; with
// none left it takes the oldest of another thread's, which is about the largest.
#pragma once
#include "codes.hpp"

namespace crosscut::CROSSCUT_LEVEL {

struct WaitingBundle : Bundle {
  HeldCodes codes;
  u32 n_rows;
  u32* ids;  // rows of the codes
  u16* masks;
  WaitingBundle *older = nullptr, *newer = nullptr;

  struct End {
    void operator()(WaitingBundle* bundle) const { bundle->~WaitingBundle(), std::free(bundle); }
  };
  using Pointer = std::unique_ptr<WaitingBundle, End>;

  // Its rows are still to be filled in.
  static Pointer make(const Bundle& bundle, const HeldCodes& codes, u32 n_rows) {
    const std::size_t n = n_rows + 1, bytes = sizeof(WaitingBundle) + n * (sizeof(u32) + sizeof(u16));
    void* raw = std::malloc(bytes);
    if (!raw) throw std::bad_alloc();
    u32* ids = reinterpret_cast<u32*>(static_cast<char*>(raw) + sizeof(WaitingBundle));
    return Pointer(new (raw) WaitingBundle{bundle, codes, n_rows, ids, reinterpret_cast<u16*>(ids + n)});
  }
};

class WaitingList {
  std::mutex mutex_;
  WaitingBundle *oldest_ = nullptr, *newest_ = nullptr;

 public:
  ~WaitingList() {
    while (newest()) {
    }
  }
  void add(WaitingBundle::Pointer bundle) {
    const std::scoped_lock lock(mutex_);
    WaitingBundle* b = bundle.release();
    b->older = newest_;
    (newest_ ? newest_->newer : oldest_) = b;
    newest_ = b;
  }
  WaitingBundle::Pointer newest() {
    const std::scoped_lock lock(mutex_);
    WaitingBundle* b = newest_;
    if (b) newest_ = b->older, (newest_ ? newest_->newer : oldest_) = nullptr;
    return WaitingBundle::Pointer(b);
  }
  WaitingBundle::Pointer oldest() {
    const std::scoped_lock lock(mutex_);
    WaitingBundle* b = oldest_;
    if (b) oldest_ = b->newer, (oldest_ ? oldest_->older : newest_) = nullptr;
    return WaitingBundle::Pointer(b);
  }
};

// The lists of all threads that refine a block.
class Waiting {
  int n_;
  std::unique_ptr<WaitingList[]> lists_;
  std::atomic<i64> unfinished_{0};  // bundles that wait or are being refined
  std::atomic<u32> news_{0};        // raised when a bundle is added, and at the end
  std::atomic<int> sleeping_{0};    // threads that wait for news
  std::atomic<bool> ended_{false};

 public:
  explicit Waiting(int n_threads) : n_(n_threads), lists_(new WaitingList[static_cast<std::size_t>(n_threads)]) {}

  void add(int thread, WaitingBundle::Pointer bundle) {
    unfinished_.fetch_add(1);
    lists_[thread].add(std::move(bundle));
    news_.fetch_add(1);
    if (sleeping_.load()) news_.notify_one();
  }
  // This thread's newest, whatever the others have.
  WaitingBundle::Pointer newest(int thread) { return lists_[thread].newest(); }
  // A bundle, as soon as there is one; null when all are finished.
  WaitingBundle::Pointer next(int thread) {
    for (;;) {
      const u32 seen = news_.load();
      if (ended_.load()) return nullptr;
      if (WaitingBundle::Pointer mine = newest(thread)) return mine;
      for (int i = 1; i < n_; i++)
        if (WaitingBundle::Pointer other = lists_[(thread + i) % n_].oldest()) return other;
      sleeping_.fetch_add(1);
      news_.wait(seen);
      sleeping_.fetch_sub(1);
    }
  }
  void finished() {
    if (unfinished_.fetch_sub(1) == 1) stop();
  }
  void stop() {  // no thread waits any longer
    ended_.store(true);
    news_.fetch_add(1);
    news_.notify_all();
  }
};

}  // namespace crosscut::CROSSCUT_LEVEL

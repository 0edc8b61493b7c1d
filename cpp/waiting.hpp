// Bundles that wait to be refined. Every thread has a list of its own and goes on with its newest, so that work is depth first; with
// none left it takes the oldest of another thread's, which is about the largest.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace crosscut {

// An Item has a Pointer, which owns it, and the links `older` and `newer`.
template <class Item>
class WaitingList {
  using Pointer = typename Item::Pointer;
  std::mutex mutex_;
  Item *oldest_ = nullptr, *newest_ = nullptr;

 public:
  ~WaitingList() {
    while (newest()) {
    }
  }
  void add(Pointer bundle) {
    const std::scoped_lock lock(mutex_);
    Item* b = bundle.release();
    b->older = newest_;
    (newest_ ? newest_->newer : oldest_) = b;
    newest_ = b;
  }
  Pointer newest() {
    const std::scoped_lock lock(mutex_);
    Item* b = newest_;
    if (b) newest_ = b->older, (newest_ ? newest_->newer : oldest_) = nullptr;
    return Pointer(b);
  }
  Pointer oldest() {
    const std::scoped_lock lock(mutex_);
    Item* b = oldest_;
    if (b) oldest_ = b->newer, (oldest_ ? oldest_->older : newest_) = nullptr;
    return Pointer(b);
  }
};

// The lists of all threads of a team.
template <class Item>
class WaitingLists {
  using Pointer = typename Item::Pointer;
  int n_;
  std::unique_ptr<WaitingList<Item>[]> lists_;
  std::atomic<std::int64_t> unfinished_{0};  // bundles that wait or are being refined
  std::atomic<std::uint32_t> news_{0};        // raised when a bundle is added, and at the end
  std::atomic<int> sleeping_{0};    // threads that wait for news
  std::atomic<bool> ended_{false};

 public:
  explicit WaitingLists(int n_threads) : n_(n_threads), lists_(new WaitingList<Item>[static_cast<std::size_t>(n_threads)]) {}

  void add(int thread, Pointer bundle) {
    unfinished_.fetch_add(1);
    lists_[thread].add(std::move(bundle));
    news_.fetch_add(1);
    if (sleeping_.load()) news_.notify_one();
  }
  // This thread's newest, whatever the others have.
  Pointer newest(int thread) { return lists_[thread].newest(); }
  // A bundle, as soon as there is one; null when all are finished.
  Pointer next(int thread) {
    return next(thread, [&](std::uint32_t seen) { news_.wait(seen); });
  }
  // The same; sleep(news seen so far) is called while there is none, and returns now and then.
  template <class Sleep>
  Pointer next(int thread, Sleep sleep) {
    for (;;) {
      const std::uint32_t seen = news_.load();
      if (ended_.load()) return nullptr;
      if (Pointer mine = newest(thread)) return mine;
      for (int i = 1; i < n_; i++)
        if (Pointer other = lists_[(thread + i) % n_].oldest()) return other;
      sleeping_.fetch_add(1);
      sleep(seen);
      sleeping_.fetch_sub(1);
    }
  }
  bool any_idle() const { return sleeping_.load() > 0; }
  void finished() {
    if (unfinished_.fetch_sub(1) == 1) stop();
  }
  void stop() {  // no thread waits any longer
    ended_.store(true);
    news_.fetch_add(1);
    news_.notify_all();
  }
};

}  // namespace crosscut

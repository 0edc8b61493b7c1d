// Work stealing for bundles that wait to be refined. Every thread has its own list and continues
// with its newest bundle, so that work is depth first. If its list is empty, it takes the oldest
// bundle of another thread, which is usually the largest. If all lists are empty, it takes parts of
// the work that other threads share.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/threads.hpp"

namespace crosscut {

// The parts 0 .. n − 1 of some work, which several threads take one after another.
class Parts {
  std::atomic<int> next_{0}, n_{0};

 public:
  void start(int n);
  bool any() const;
  int take();  // −1 if none is left
};

// Threads of a team, some of which are idle and can take parts of shared work.
class IdleThreads {
  using Call = void (*)(const void*, int, Parts&);
  struct alignas(64) SharedWork {
    std::mutex mutex;
    Parts parts;
    Call call = nullptr;  // null: no work is shared
    const void* body = nullptr;
    Failure* failure = nullptr;
    std::atomic<int> helping{0};
  };
  std::unique_ptr<SharedWork[]> shared_;  // by thread
  std::atomic<std::uint32_t> news_{0};    // incremented when there is new work, and at the end
  std::atomic<int> idle_{0};
  void share(int thread, int n, Call call, const void* body);

 protected:
  const int n_;
  explicit IdleThreads(int n);
  std::uint32_t news() const;
  void tell_one();
  void tell_all();
  bool help(int thread);          // takes part in shared work; false if there is none
  void wait(std::uint32_t seen);  // until the counter of news differs from `seen`
  // Marks a thread as idle until the end of the scope.
  struct Idle {
    std::atomic<int>& n;
    explicit Idle(IdleThreads&);
    ~Idle();
  };

 public:
  int n_idle() const;
  // Calls body(thread, parts) here and on threads that are or become idle; each takes parts until
  // none is left. The first exception is rethrown here. Nested calls are not shared again.
  template <class Body> void share(int thread, int n, const Body& body) {
    share(
        thread, n,
        [](const void* b, int t, Parts& parts) { (*static_cast<const Body*>(b))(t, parts); },
        &body);
  }
};

// A doubly linked list of items. Item::Pointer owns an item; `older` and `newer` are its links.
template <class Item> class WaitingList {
  using Pointer = typename Item::Pointer;
  std::mutex mutex_;
  Item *oldest_ = nullptr, *newest_ = nullptr;

 public:
  ~WaitingList() {
    while (newest()) {}
  }
  void add(Pointer bundle) {
    const std::scoped_lock lock(mutex_);
    Item* b = bundle.release();
    b->older = newest_;
    b->newer = nullptr;
    (newest_ ? newest_->newer : oldest_) = b;
    newest_ = b;
  }
  Pointer newest() {
    const std::scoped_lock lock(mutex_);
    Item* b = newest_;
    if (b) {
      newest_ = b->older;
      (newest_ ? newest_->newer : oldest_) = nullptr;
    }
    return Pointer(b);
  }
  Pointer oldest() {
    const std::scoped_lock lock(mutex_);
    Item* b = oldest_;
    if (b) {
      oldest_ = b->newer;
      (oldest_ ? oldest_->older : newest_) = nullptr;
    }
    return Pointer(b);
  }
};

// The lists of all threads of a team.
template <class Item> class WaitingLists : public IdleThreads {
  using Pointer = typename Item::Pointer;
  std::unique_ptr<WaitingList<Item>[]> lists_;
  std::atomic<std::int64_t> unfinished_{0};  // waiting bundles and those being refined
  std::atomic<bool> ended_{false};

 public:
  explicit WaitingLists(int n_threads)
      : IdleThreads(n_threads),
        lists_(new WaitingList<Item>[static_cast<std::size_t>(n_threads)]) {}

  void add(int thread, Pointer bundle) {
    unfinished_.fetch_add(1);
    lists_[thread].add(std::move(bundle));
    tell_one();
  }
  // Waits for a bundle; returns null when all are finished.
  Pointer next(int thread) {
    return next(thread, [&](std::uint32_t seen) { wait(seen); });
  }
  // The same, but calls sleep(news seen so far) while there is nothing to do; it must return from
  // time to time.
  template <class Sleep> Pointer next(int thread, Sleep sleep) {
    for (;;) {
      const std::uint32_t seen = news();
      if (ended_.load()) return nullptr;
      if (Pointer newest = lists_[thread].newest()) return newest;
      for (int i = 1; i < n_; i++)
        if (Pointer oldest = lists_[(thread + i) % n_].oldest()) return oldest;
      const Idle idle(*this);
      if (!help(thread)) sleep(seen);
    }
  }
  void begin() { unfinished_.fetch_add(1); }  // work that may add bundles; ends with finished()
  void finished() {
    if (unfinished_.fetch_sub(1) == 1) stop();
  }
  void stop() {  // ends all waiting
    ended_.store(true);
    tell_all();
  }
};

}  // namespace crosscut

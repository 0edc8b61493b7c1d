// Bundles that wait to be refined. Every thread has a list of its own and goes on with its newest,
// so that work is depth first; with none left it takes the oldest of another thread's, which is
// about the largest. While there is none to take, it helps other threads with theirs.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/threads.hpp"

namespace crosscut {

// The parts of some work, from 0 to n − 1. Several threads take one after the other.
class Parts {
  std::atomic<int> next_{0}, n_{0};

 public:
  void start(int n);
  bool any() const;
  int take();  // −1 if none is left
};

// Threads of a team, some of which have nothing to do. These help those that share their work.
class IdleThreads {
  using Call = void (*)(const void*, int, Parts&);
  struct alignas(64) SharedWork {
    std::mutex mutex;
    Parts parts;
    Call call = nullptr;  // null: there is none
    const void* body = nullptr;
    Failure* failure = nullptr;
    std::atomic<int> helping{0};
  };
  std::unique_ptr<SharedWork[]> shared_;  // by thread
  std::atomic<std::uint32_t> news_{0};    // raised when there is more to do, and at the end
  std::atomic<int> idle_{0};
  void share(int thread, int n, Call call, const void* body);

 protected:
  const int n_;
  explicit IdleThreads(int n);
  std::uint32_t news() const;
  void tell_one();
  void tell_all();
  bool help(int thread);          // false if there is nothing to help with
  void wait(std::uint32_t seen);  // for other news than those
  // Counts as idle until the end of its scope.
  struct Idle {
    std::atomic<int>& n;
    explicit Idle(IdleThreads&);
    ~Idle();
  };

 public:
  int n_idle() const;
  // Calls body(thread, parts) here and on threads that are or become idle; each takes parts until
  // none is left. The first exception is thrown here. Work that is part of shared work is not
  // shared once more.
  template <class Body>
  void share(int thread, int n, const Body& body) {
    share(
        thread, n,
        [](const void* b, int t, Parts& parts) { (*static_cast<const Body*>(b))(t, parts); },
        &body);
  }
};

// An Item has a Pointer, which owns it, and the links `older` and `newer`.
template <class Item>
class WaitingList {
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
template <class Item>
class WaitingLists : public IdleThreads {
  using Pointer = typename Item::Pointer;
  std::unique_ptr<WaitingList<Item>[]> lists_;
  std::atomic<std::int64_t> unfinished_{0};  // bundles that wait or are being refined
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
  // A bundle, as soon as there is one; null when all are finished.
  Pointer next(int thread) {
    return next(thread, [&](std::uint32_t seen) { wait(seen); });
  }
  // The same; sleep(news seen so far) is called while there is nothing to do, and returns now and
  // then.
  template <class Sleep>
  Pointer next(int thread, Sleep sleep) {
    for (;;) {
      const std::uint32_t seen = news();
      if (ended_.load()) return nullptr;
      if (Pointer mine = lists_[thread].newest()) return mine;
      for (int i = 1; i < n_; i++)
        if (Pointer other = lists_[(thread + i) % n_].oldest()) return other;
      const Idle idle(*this);
      if (!help(thread)) sleep(seen);
    }
  }
  void finished() {
    if (unfinished_.fetch_sub(1) == 1) stop();
  }
  void stop() {  // no thread waits any longer
    ended_.store(true);
    tell_all();
  }
};

}  // namespace crosscut

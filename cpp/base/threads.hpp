// A small thread pool instead of OpenMP, whose runtimes can hang in forked processes or abort when
// memory is short.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace crosscut {

struct Stopped {};  // thrown when the user interrupts

// Carries an exception from a thread to the caller. The first exception is kept, the other threads
// see it and stop, and the caller rethrows it.
class Failure {
  std::mutex mutex_;
  std::exception_ptr first_;
  std::atomic<bool> any_{false};
  void keep();  // the current exception

 public:
  bool any() const { return any_.load(std::memory_order_relaxed); }
  template <class Work> void guard(Work work) {
    if (any()) return;
    try {
      work();
    } catch (...) { keep(); }
  }
  void rethrow() const;
};

// Threads that run one function after another; the caller is the first of them.
class Team {
  using Call = void (*)(const void*, int);
  std::vector<std::thread> others_;
  std::atomic<std::uint32_t> round_{0};  // incremented when there is work
  std::atomic<int> working_{0};
  int members_ = 1;  // number of threads of this round
  Call call_ = nullptr;
  const void* body_ = nullptr;

  void serve(int thread);
  void start_round();
  void run(int n, Call call, const void* body);

 public:
  explicit Team(int n);  // fewer threads if the system refuses more
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team();
  int size() const { return static_cast<int>(others_.size()) + 1; }
  // Calls body(0), ..., body(n - 1), each on its own thread. They must not throw.
  template <class Body> void run(int n, const Body& body) {
    run(n, [](const void* b, int i) { (*static_cast<const Body*>(b))(i); }, &body);
  }
};

// Calls body(begin, end) for chunks of about `chunk` indices that cover 0..n. An exception of a
// chunk is rethrown here.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t chunk, Team& team, const Body& body) {
  const std::int64_t n_chunks = (n + chunk - 1) / chunk;
  if (team.size() == 1 || n_chunks <= 1) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  std::atomic<std::int64_t> next{0};
  Failure failure;
  team.run(team.size(), [&](int) {
    for (std::int64_t c; (c = next.fetch_add(1)) < n_chunks;)
      failure.guard([&] { body(c * chunk, std::min(n, (c + 1) * chunk)); });
  });
  failure.rethrow();
}
template <class Body>
void parallel_for(std::int64_t n, std::int64_t chunk, int n_threads, const Body& body) {
  Team team(static_cast<int>(std::min<std::int64_t>(n_threads, (n + chunk - 1) / chunk)));
  parallel_for(n, chunk, team, body);
}

}  // namespace crosscut

// A team keeps its threads between rounds of work; a counter of rounds wakes them.
#include "base/threads.hpp"

#include <cstdlib>
#include <system_error>

namespace crosscut {

namespace {

// Address space of a thread: its stack and its part of the heap. If it is not available (ulimit
// -v), the C library would end the process when the thread first throws an exception.
constexpr std::size_t kThreadBytes = std::size_t{80} << 20;

bool has_room(int n) {
  // volatile, because compilers may remove the allocation
  void* volatile room = std::malloc(static_cast<std::size_t>(n) * kThreadBytes);
  std::free(room);
  return room;
}

}  // namespace

void Failure::keep() {
  const std::scoped_lock lock(mutex_);
  if (!first_) first_ = std::current_exception();
  any_.store(true);
}

void Failure::rethrow() const {
  if (first_) std::rethrow_exception(first_);
}

Team::Team(int n) {
  if (n <= 1 || !has_room(n - 1)) return;
  try {
    others_.reserve(static_cast<std::size_t>(n - 1));
    for (int i = 1; i < n; i++) others_.emplace_back(&Team::serve, this, i);
  } catch (const std::system_error&) {  // the system refuses more threads
  } catch (const std::bad_alloc&) {}
}

Team::~Team() {
  call_ = nullptr;
  start_round();
  for (std::thread& other : others_) other.join();
}

void Team::start_round() {
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void Team::serve(int thread) {
  for (std::uint32_t seen = 0;;) {
    while (round_.load(std::memory_order_acquire) == seen) round_.wait(seen);
    seen++;  // a round begins only after all threads have finished the previous one
    if (!call_) return;
    if (thread < members_) call_(body_, thread);
    if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) working_.notify_one();
  }
}

void Team::run(int n, Call call, const void* body) {
  // no round is started: a thread of a round may call this, and the state is in use
  if (n == 1 || others_.empty()) return call(body, 0);
  members_ = std::min(n, size());
  call_ = call;
  body_ = body;
  working_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
  start_round();
  call(body, 0);
  for (int left; (left = working_.load(std::memory_order_acquire));) working_.wait(left);
}

}  // namespace crosscut

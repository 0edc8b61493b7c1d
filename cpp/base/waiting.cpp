// Work sharing by idle threads. Shared work is published per thread under a mutex; the parts are
// taken by an atomic counter.
#include "base/waiting.hpp"

namespace crosscut {

void Parts::start(int n) {
  next_.store(0);
  n_.store(n);
}
bool Parts::any() const {
  return next_.load(std::memory_order_relaxed) < n_.load(std::memory_order_relaxed);
}
int Parts::take() {
  const int part = next_.fetch_add(1);
  return part < n_.load() ? part : -1;
}

IdleThreads::IdleThreads(int n) : shared_(new SharedWork[static_cast<std::size_t>(n)]), n_(n) {}
IdleThreads::Idle::Idle(IdleThreads& threads) : n(threads.idle_) { n.fetch_add(1); }
IdleThreads::Idle::~Idle() { n.fetch_sub(1); }
int IdleThreads::n_idle() const { return idle_.load(std::memory_order_relaxed); }
std::uint32_t IdleThreads::news() const { return news_.load(); }
void IdleThreads::tell_one() {
  news_.fetch_add(1);
  if (idle_.load()) news_.notify_one();
}
void IdleThreads::tell_all() {
  news_.fetch_add(1);
  if (idle_.load()) news_.notify_all();
}

void IdleThreads::share(int thread, int n, Call call, const void* body) {
  SharedWork& work = shared_[thread];
  if (n_ == 1 || n <= 1 || work.call) {
    Parts alone;
    alone.start(n);
    return call(body, thread, alone);
  }
  Failure failure;
  {
    const std::scoped_lock lock(work.mutex);
    work.parts.start(n);
    work.call = call;
    work.body = body;
    work.failure = &failure;
  }
  tell_all();
  failure.guard([&] { call(body, thread, work.parts); });
  {
    const std::scoped_lock lock(work.mutex);  // from here on, no thread can join
    work.call = nullptr;
  }
  for (int left; (left = work.helping.load());) work.helping.wait(left);
  failure.rethrow();
}

bool IdleThreads::help(int thread) {
  for (int i = 1; i < n_; i++) {
    SharedWork& work = shared_[(thread + i) % n_];
    if (!work.parts.any()) continue;
    Call call;
    {
      const std::scoped_lock lock(work.mutex);
      call = work.parts.any() ? work.call : nullptr;
      if (!call) continue;
      work.helping.fetch_add(1);
    }
    work.failure->guard([&] { call(work.body, thread, work.parts); });
    if (work.helping.fetch_sub(1) == 1) work.helping.notify_one();
    return true;
  }
  return false;
}

// Spins before it sleeps: work often arrives soon, and waking a sleeping thread can take longer
// than a shared part.
void IdleThreads::wait(std::uint32_t seen) {
  for (int i = 0; i < 1 << 10 && news_.load(std::memory_order_relaxed) == seen; i++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  news_.wait(seen);
}

}  // namespace crosscut

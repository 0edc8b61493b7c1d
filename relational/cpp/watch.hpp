// Checks now and then whether the user wants to stop, and reports progress.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/threads.hpp"

namespace crosscut::query {

// All threads that work on some facts share one; only the thread that called the core calls back.
class Watch {
 public:
  using Ask = bool (*)(void* of, double share);  // true means stop

  // What the calling thread does from here on; `total` is what done() adds up to.
  void start(Ask ask, void* of = nullptr, double total = 0) {
    ask_ = ask;
    of_ = of;
    total_ = total;
    caller_ = std::this_thread::get_id();
    done_ = 0;
    halted_ = false;
  }
  void done(double examples) {
    done_.fetch_add(static_cast<std::uint64_t>(examples), std::memory_order_relaxed);
  }
  void halt() { halted_ = true; }  // the other threads, too
  void poll() {
    if (++calls % 32 == 0) look();
  }
  void look() {
    if (halted_.load(std::memory_order_relaxed)) throw Stopped{};
    if (ask_ == nullptr || std::this_thread::get_id() != caller_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    if (ask_(of_,
             total_ > 0 ? static_cast<double>(done_.load(std::memory_order_relaxed)) / total_ : 0))
      throw Stopped{};
  }

 private:
  static inline thread_local unsigned calls = 0;
  Ask ask_ = nullptr;
  void* of_ = nullptr;
  double total_ = 0;
  std::thread::id caller_;
  std::chrono::steady_clock::time_point last_{};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<bool> halted_{false};
};

}  // namespace crosscut::query

// Asks now and then whether the user wants to stop.
#pragma once
#include <chrono>

namespace crosscut::query {

struct Stopped {};  // thrown when the user interrupts

struct Watch {
  bool (*wants_to_stop)() = nullptr;
  unsigned calls = 0;
  std::chrono::steady_clock::time_point last{};

  void poll() {
    if (++calls % 32 == 0) look();
  }
  void look() {
    if (wants_to_stop == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(100)) return;
    last = now;
    if (wants_to_stop()) throw Stopped{};
  }
};

}  // namespace crosscut::query

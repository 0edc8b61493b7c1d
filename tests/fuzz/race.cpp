// A planted race: the control that ThreadSanitizer sees races in a process of Python
// (`threads.py`).
#include <thread>

extern "C" int race() {
  static int counter = 0;
  const auto count = [] {
    for (int i = 0; i < 1000; i++) counter++;
  };
  std::thread other(count);
  count();
  other.join();
  return counter;
}

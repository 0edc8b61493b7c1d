// Natural numbers of any size, with the operations that exact sums need: addition, subtraction,
// multiplication, shifts, and a quotient that is rounded once.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace crosscut {

__extension__ typedef __int128 i128;
__extension__ typedef unsigned __int128 u128;
using i64 = std::int64_t;
using u64 = std::uint64_t;

// A natural number: the lowest word comes first, and the highest is not 0. Most numbers are short
// and are stored without an allocation.
class Natural {
  static constexpr std::size_t kShort = 16;
  u64 short_[kShort] = {};
  std::vector<u64> long_;
  std::size_t size_ = 0;

 public:
  Natural() = default;
  explicit Natural(std::size_t n) { resize(n); }
  u64* data() { return long_.empty() ? short_ : long_.data(); }
  const u64* data() const { return long_.empty() ? short_ : long_.data(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  u64& operator[](std::size_t i) { return data()[i]; }
  u64 operator[](std::size_t i) const { return data()[i]; }
  u64 back() const { return data()[size_ - 1]; }
  void pop_back() { size_--; }
  void resize(std::size_t n) {  // new words are 0
    if (n > kShort && n > long_.size()) {
      std::vector<u64> longer(2 * n);
      std::copy_n(data(), size_, longer.data());
      long_ = std::move(longer);
    }
    if (n > size_) std::fill(data() + size_, data() + n, u64{0});
    size_ = n;
  }
};

inline void trim(Natural& a) {
  while (!a.empty() && !a.back()) a.pop_back();
}

inline int compare(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

inline void add(Natural& a, const Natural& b) {
  if (a.size() < b.size()) a.resize(b.size());
  u64 carry = 0;
  for (std::size_t i = 0; i < a.size() && (i < b.size() || carry); i++) {
    const u128 sum = static_cast<u128>(a[i]) + (i < b.size() ? b[i] : 0) + carry;
    a[i] = static_cast<u64>(sum);
    carry = static_cast<u64>(sum >> 64);
  }
  if (carry) {
    a.resize(a.size() + 1);
    a[a.size() - 1] = carry;
  }
}

inline void subtract(Natural& a, const Natural& b) {  // a ≥ b
  u64 borrow = 0;
  for (std::size_t i = 0; i < a.size() && (i < b.size() || borrow); i++) {
    const u128 less = static_cast<u128>(i < b.size() ? b[i] : 0) + borrow;
    borrow = a[i] < less;
    a[i] -= static_cast<u64>(less);
  }
  trim(a);
}

inline Natural times(const Natural& a, const Natural& b) {
  Natural out(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); i++) {
    u64 carry = 0;
    for (std::size_t j = 0; j < b.size(); j++) {
      const u128 t = static_cast<u128>(a[i]) * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<u64>(t);
      carry = static_cast<u64>(t >> 64);
    }
    out[i + b.size()] = carry;
  }
  trim(out);
  return out;
}

inline int n_bits(const Natural& a) {
  return a.empty() ? 0 : static_cast<int>(64 * a.size()) - __builtin_clzll(a.back());
}

inline void shift_left(Natural& a, int bits) {
  if (a.empty() || !bits) return;
  const auto words = static_cast<std::size_t>(bits / 64);
  const int rest = bits % 64;
  a.resize(a.size() + words + 1);
  for (std::size_t i = a.size(); i-- > 0;) {
    const u64 high = i >= words ? a[i - words] : 0, low = i > words ? a[i - words - 1] : 0;
    a[i] = rest ? high << rest | low >> (64 - rest) : high;
  }
  trim(a);
}

// Returns a / b · 2^exponent, rounded once. One step of long division (Knuth, algorithm D) gives at
// least 62 bits of the quotient. Its last bit is also set if the remainder is not 0, so that the
// conversion to double rounds like the exact quotient.
inline double ratio(Natural a, Natural b, int exponent) {
  if (a.empty() || b.empty()) return 0;
  const int whole_words = static_cast<int>(64 * b.size()) - n_bits(b);
  shift_left(b, whole_words);
  const int shift = n_bits(b) + 62 - n_bits(a);  // now 2^61 < a / b < 2^63
  if (shift >= 0) shift_left(a, shift);
  else {
    shift_left(b, (63 - shift) / 64 * 64);
    shift_left(a, (63 - shift) / 64 * 64 + shift);
  }
  exponent += whole_words - shift;
  const std::size_t n = b.size();
  a.resize(n + 1);
  const u128 top = static_cast<u128>(a[n]) << 64 | a[n - 1];
  u64 q = static_cast<u64>(top / b[n - 1]), borrow = 0;  // at most 2 too large
  for (std::size_t i = 0; i < n; i++) {
    const u128 less = static_cast<u128>(q) * b[i] + borrow;
    borrow = static_cast<u64>(less >> 64) + (a[i] < static_cast<u64>(less));
    a[i] -= static_cast<u64>(less);
  }
  a[n] -= borrow;
  while (a[n]) {  // negative: q was too large
    q--;
    u64 carry = 0;
    for (std::size_t i = 0; i < n; i++) {
      const u128 sum = static_cast<u128>(a[i]) + b[i] + carry;
      a[i] = static_cast<u64>(sum);
      carry = static_cast<u64>(sum >> 64);
    }
    a[n] += carry;
  }
  trim(a);
  return std::ldexp(static_cast<double>(q | static_cast<u64>(!a.empty())), exponent);
}

}  // namespace crosscut

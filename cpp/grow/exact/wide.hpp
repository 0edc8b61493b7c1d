// Natural numbers of up to 320 bits. Most exact sums and their products fit.
#pragma once
#include "base/natural.hpp"

namespace crosscut {

struct Wide {
  static constexpr int kWords = 5;
  u64 word[kWords] = {};

  Wide& operator+=(const Wide& o) {
    u64 carry = 0;
    for (int i = 0; i < kWords; i++) {
      const u128 sum = static_cast<u128>(word[i]) + o.word[i] + carry;
      word[i] = static_cast<u64>(sum);
      carry = static_cast<u64>(sum >> 64);
    }
    return *this;
  }
  Wide operator*(u64 b) const {
    Wide out;
    u64 carry = 0;
    for (int i = 0; i < kWords; i++) {
      const u128 t = static_cast<u128>(word[i]) * b + carry;
      out.word[i] = static_cast<u64>(t);
      carry = static_cast<u64>(t >> 64);
    }
    return out;
  }
  bool operator>(const Wide& o) const {
    for (int i = kWords; i-- > 0;)
      if (word[i] != o.word[i]) return word[i] > o.word[i];
    return false;
  }
  static Wide square(i128 v) {
    const u128 size = v < 0 ? -static_cast<u128>(v) : static_cast<u128>(v);
    const u64 low = static_cast<u64>(size), high = static_cast<u64>(size >> 64);
    const Wide all{{low, high}};
    Wide out = all * high;
    for (int i = kWords - 1; i > 0; i--) out.word[i] = out.word[i - 1];
    out.word[0] = 0;
    return out += all * low;
  }
};

}  // namespace crosscut

// Text columns as codes: the distinct texts, and the number of each row's text among them.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "arrow.hpp"

namespace crosscut {

struct CodedText {
  std::vector<std::int32_t> codes;  // -1 where a text is missing
  // Texts that some row has, sorted by their bytes, which order UTF-8 like its characters; or if they have an order of their own, all
  // entries of the dictionary in that order. They lie in the column.
  std::vector<std::string_view> categories;
  bool ordered = false;
};

// Whether a column holds text, as it is or by a dictionary.
bool is_text(const ArrowColumn&);

CodedText code_text(const ArrowColumn&);

}  // namespace crosscut

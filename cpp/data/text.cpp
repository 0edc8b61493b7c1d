#include "text.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>

namespace crosscut {
namespace {

constexpr std::int32_t missing = -1, unknown = -2;
constexpr std::int64_t ordered_flag = 1;

template <class Offset>
struct OffsetTexts {
  const Offset* offsets;
  const char* bytes;
  explicit OffsetTexts(const ArrowArray& array)
      : offsets(static_cast<const Offset*>(array.buffers[1])), bytes(static_cast<const char*>(array.buffers[2])) {}
  std::string_view operator[](std::int64_t i) const { return {bytes + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])}; }
};

struct TextViews {  // 16 bytes each: the length, and the text, or its first bytes, its buffer and the place there
  const char* views;
  const void** buffers;
  explicit TextViews(const ArrowArray& array) : views(static_cast<const char*>(array.buffers[1])), buffers(array.buffers + 2) {}
  std::string_view operator[](std::int64_t i) const {
    std::int32_t view[4];
    std::memcpy(view, views + 16 * i, sizeof view);
    const char* bytes = view[0] <= 12 ? views + 16 * i + 4 : static_cast<const char*>(buffers[view[2]]) + view[3];
    return {bytes, static_cast<std::size_t>(view[0])};
  }
};

template <class Use>
void with_texts(const ArrowSchema& schema, const ArrowArray& array, Use&& use) {
  const std::string_view format = schema.format;
  if (format == "u") use(OffsetTexts<std::int32_t>(array));
  else if (format == "U") use(OffsetTexts<std::int64_t>(array));
  else use(TextViews(array));
}

template <class Use>
void with_indices(const ArrowSchema& schema, const Part& part, Use&& use) {
  switch (schema.format[0]) {
    case 'c': return use(part.numbers<std::int8_t>());
    case 'C': return use(part.numbers<std::uint8_t>());
    case 's': return use(part.numbers<std::int16_t>());
    case 'S': return use(part.numbers<std::uint16_t>());
    case 'i': return use(part.numbers<std::int32_t>());
    case 'I': return use(part.numbers<std::uint32_t>());
    case 'l': return use(part.numbers<std::int64_t>());
    default: return use(part.numbers<std::uint64_t>());
  }
}

// Arrow has a flag for it; polars marks its Enum, too.
bool is_ordered(const ArrowSchema& schema) {
  if (schema.flags & ordered_flag) return true;
  const char* at = schema.metadata;  // a count, then pairs of texts, each after its length
  const auto number = [&] {
    std::int32_t n;
    std::memcpy(&n, at, sizeof n);
    at += sizeof n;
    return n;
  };
  for (std::int32_t texts = at ? 2 * number() : 0; texts > 0; texts--) {
    const std::string_view text(at + sizeof(std::int32_t), static_cast<std::size_t>(number()));
    if (texts % 2 == 0 && text.substr(0, 8) == "_PL_ENUM") return true;
    at += text.size();
  }
  return false;
}

// Numbers texts as they are found: a hash table of at most half as many texts as it has slots.
class Texts {
  std::vector<std::int32_t> slots_;
  std::vector<std::uint64_t> hashes_;  // by number
  int shift_;                          // the highest bits of a hash, which all of a text's bits change, choose the slot

  static std::uint64_t hash_of(std::string_view text) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
    std::uint64_t hash = text.size() * odd;
    const auto mix = [&]<class Word>(Word word, std::size_t at) {
      std::memcpy(&word, text.data() + at, sizeof word);
      hash = (hash ^ word) * odd, hash ^= hash >> 32;
    };
    const std::size_t n = text.size();
    for (std::size_t at = 0; at + 8 < n; at += 8) mix(std::uint64_t{}, at);
    if (n >= 8) mix(std::uint64_t{}, n - 8);  // the last words may overlap
    else if (n >= 4) mix(std::uint32_t{}, 0), mix(std::uint32_t{}, n - 4);
    else if (n > 0) mix(std::uint8_t{}, 0), mix(std::uint8_t{}, n / 2), mix(std::uint8_t{}, n - 1);
    return hash;
  }

  void place(std::uint64_t hash, std::int32_t number) {
    std::size_t slot = hash >> shift_;
    while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = number;
  }

 public:
  std::vector<std::string_view> found;

  Texts() : slots_(64, -1), shift_(64 - 6) {}

  std::int32_t number(std::string_view text) {
    const std::uint64_t hash = hash_of(text);
    for (std::size_t slot = hash >> shift_; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      const auto known = static_cast<std::size_t>(slots_[slot]);
      if (hashes_[known] == hash && found[known] == text) return slots_[slot];
    }
    const auto number = static_cast<std::int32_t>(found.size());
    if (found.size() >= 0x7FFFFFFFu) throw std::length_error("a column has too many different texts to number");
    found.push_back(text), hashes_.push_back(hash);
    if (2 * found.size() > slots_.size()) {
      slots_.assign(2 * slots_.size(), -1), shift_--;
      for (std::size_t t = 0; t + 1 < found.size(); t++) place(hashes_[t], static_cast<std::int32_t>(t));
    }
    place(hash, number);
    return number;
  }
};

void number_dictionary(const ArrowSchema& schema, const Part& part, bool ordered, Texts& texts, std::int32_t* codes) {
  const ArrowArray& dictionary = *part.array->dictionary;
  const Part entries{&dictionary, dictionary.offset, dictionary.length};
  const std::uint8_t *present = part.validity(), *in_dictionary = entries.validity();
  std::vector<std::int32_t> of_entry(static_cast<std::size_t>(entries.length), unknown);
  with_texts(*schema.dictionary, dictionary, [&](const auto& text) {
    const auto number_entry = [&](std::size_t entry) {
      const std::int64_t at = entries.offset + static_cast<std::int64_t>(entry);
      of_entry[entry] = in_dictionary && !bit_at(in_dictionary, at) ? missing : texts.number(text[at]);
    };
    for (std::size_t entry = 0; ordered && entry < of_entry.size(); entry++) number_entry(entry);
    with_indices(schema, part, [&](const auto* index) {
      for (std::int64_t i = 0; i < part.length; i++) {
        if (present && !bit_at(present, part.offset + i)) {
          codes[i] = missing;
          continue;
        }
        const auto entry = static_cast<std::size_t>(index[i]);
        if (entry >= of_entry.size()) throw std::out_of_range("a column has a category that is not in its dictionary");
        if (of_entry[entry] == unknown) number_entry(entry);
        codes[i] = of_entry[entry];
      }
    });
  });
}

void number_texts(const ArrowSchema& schema, const Part& part, Texts& texts, std::int32_t* codes) {
  const std::uint8_t* present = part.validity();
  with_texts(schema, *part.array, [&](const auto& text) {
    for (std::int64_t i = 0; i < part.length; i++) {
      const std::int64_t at = part.offset + i;
      codes[i] = present && !bit_at(present, at) ? missing : texts.number(text[at]);
    }
  });
}

// Gives texts the numbers that they have in sorted order.
void sort_texts(std::vector<std::string_view>& texts, std::vector<std::int32_t>& codes) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return texts[a] < texts[b]; });
  std::vector<std::int32_t> rank(texts.size() + 1, missing);
  std::vector<std::string_view> sorted;
  sorted.reserve(texts.size());
  for (const std::size_t text : order) rank[text + 1] = static_cast<std::int32_t>(sorted.size()), sorted.push_back(texts[text]);
  for (std::int32_t& code : codes) code = rank[static_cast<std::size_t>(code + 1)];
  texts = std::move(sorted);
}

}  // namespace

bool is_text(const ArrowColumn& column) {
  const ArrowSchema* dictionary = column.schema->dictionary;
  const std::string_view format = dictionary ? dictionary->format : column.schema->format, index = dictionary ? column.format() : "c";
  return (format == "u" || format == "U" || format == "vu") && std::string_view("cCsSiIlL").find(index) != std::string_view::npos;
}

CodedText code_text(const ArrowColumn& column) {
  const ArrowSchema& schema = *column.schema;
  CodedText coded;
  coded.codes.resize(static_cast<std::size_t>(column.length()));
  coded.ordered = schema.dictionary && is_ordered(schema);
  Texts texts;
  std::int32_t* codes = coded.codes.data();
  for (const Part& part : column.parts) {
    if (schema.dictionary) number_dictionary(schema, part, coded.ordered, texts, codes);
    else number_texts(schema, part, texts, codes);
    codes += part.length;
  }
  coded.categories = std::move(texts.found);
  if (!coded.ordered) sort_texts(coded.categories, coded.codes);
  return coded;
}

}  // namespace crosscut

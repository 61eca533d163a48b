// A JSON text (RFC 8259) as a flat list of its values, for readers that face hostile input. It
// takes 8 bytes per value and at most 4 times the text (and half a kilobyte). It needs no recursion
// and no copies of strings. The text must outlive the document. A value knows its path, which is
// worked out only when an error needs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isotact::detail {

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

std::string_view name(JsonKind kind);  // "an array"

// How errors name places in the text: by line and column, or by byte of the file around it.
struct JsonSource {
  std::string file;
  std::uint64_t first_byte = 0;
  bool has_lines = true;
};

class JsonDocument;

// One value of a document; cheap to copy, valid as long as the document. Every function that needs
// a kind or a range throws an Error with the value's path where it finds another.
class JsonValue {
 public:
  JsonValue(const JsonDocument& document, std::uint32_t index)
      : document_(&document), index_(index) {}

  JsonKind kind() const;
  std::uint32_t index() const { return index_; }  // of JsonDocument::at

  // Objects. Keys are compared as written (glTF forbids escapes in them); the same key twice is an
  // Error. Costs a walk over the members.
  std::optional<JsonValue> find(std::string_view key) const;
  JsonValue get(std::string_view key) const;  // Error where missing

  // Arrays: for (JsonValue item : array.items()).
  class Items;
  Items items() const;

  bool as_bool() const;
  double as_double() const;  // finite
  // A whole number in [least, most]; 1.0 and 10e-1 are whole.
  std::uint64_t as_unsigned(std::uint64_t least, std::uint64_t most) const;
  // Without quotes, escapes resolved: a view of the text, or of `storage` where there were escapes.
  std::string_view as_string(std::string& storage) const;

  std::string path() const;  // "/meshes/0/name"; the top level has an empty path
  [[noreturn]] void fail(std::string_view message) const;

 private:
  void expect(JsonKind expected) const;
  std::string_view number_text() const;

  const JsonDocument* document_;
  std::uint32_t index_;
};

class JsonValue::Items {
 public:
  class Iterator {
   public:
    Iterator(const JsonDocument& document, std::uint32_t index)
        : document_(&document), index_(index) {}
    JsonValue operator*() const { return {*document_, index_}; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const JsonDocument* document_;
    std::uint32_t index_;
  };

  Items(const JsonDocument& document, std::uint32_t first, std::uint32_t end)
      : begin_(document, first), end_(document, end) {}
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

class JsonDocument {
 public:
  static constexpr std::size_t kMaxDepth = 128;  // arrays and objects within each other

  // Throws an Error at the first place that is no JSON.
  JsonDocument(std::string_view text, JsonSource source);
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonValue root() const { return {*this, 0}; }
  JsonValue at(std::uint32_t index) const { return {*this, index}; }
  std::size_t memory_bytes() const { return nodes_.capacity() * sizeof(Node); }

 private:
  friend class JsonValue;
  friend class JsonValue::Items::Iterator;

  // The first character in the text tells the kind. In an object, key and value follow each other.
  struct Node {
    std::uint32_t begin;  // in the text
    std::uint32_t next;   // the node after this one and all that it contains
  };
  class Parser;

  std::string_view key_at(std::uint32_t node) const;
  std::string path_of(std::uint32_t node) const;

  std::string_view text_;
  JsonSource source_;
  std::vector<Node> nodes_;
};

}  // namespace isotact::detail

// Exceptions for bad data and bad files. A programmer's mistake asserts instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

// A position in a file. Lines count from 1, bytes from 0.
struct FileSpot {
  std::string file;
  std::optional<std::uint64_t> line{};
  std::optional<std::uint64_t> byte{};
};

// Makes a file's name safe for a terminal: control codes become \\xNN, everything else (UTF-8) is
// unchanged.
std::string without_control_codes(std::string_view raw);

// "bunny.obj:12" or "part.stl: byte 84" or "part.stl".
std::string to_string(const FileSpot& spot);

// A setting that removes the cause of an error or a warning. Messages with a hint end with the
// names of that setting in C++. A program whose users have other means, such as options of a
// command line, takes the message apart and shows those instead (split_hint).
enum class Hint : std::uint8_t {
  kNone,
  kUnit,        // The numbers of a mesh may have another unit than metres.
  kThinParts,   // Parts thinner than a cell vanish in the field.
  kOpenings,    // Openings of the mesh were closed.
  kInnerParts,  // Parts of the mesh overlap, or lie within others.
  kFrameRate,   // A run has too many frames.
  kResolution,  // Shapes have too many cells.
  kField,       // A shape consists of points alone.
  kTriangles,   // A shape has no triangles for exact queries.
  kBounds,      // A shape has no end.
};

// "TEXT; ADVICE", where the advice names settings in C++. Without a hint: the text.
std::string with_hint(std::string_view text, Hint hint);

struct HintedText {
  std::string text;
  Hint hint = Hint::kNone;
};
// The inverse of with_hint. Texts from elsewhere come back as they are, without a hint.
HintedText split_hint(std::string_view message);

// what() is a message that a user can act on: the position, what was found, what was expected.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  Error(std::string_view text, Hint hint) : std::runtime_error(with_hint(text, hint)) {}
  Error(const FileSpot& spot, std::string_view message);

  Hint hint() const { return split_hint(what()).hint; }
};

// Thrown by a long operation whose CancelToken was set.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

// Makes text from a file safe to print on one line of a terminal: at most max_length characters,
// with control and non-ASCII bytes as \xNN.
std::string printable(std::string_view raw, std::size_t max_length = 40);

// Returns the end of a message about an unknown name. If one of the names is similar enough, it is
// "; did you mean gear? Possible: sphere, box, ..."; otherwise it is "; possible: sphere, box,
// ...". Compares the first 64 characters only.
std::string suggest(std::string_view wrong, std::span<const std::string> names);

}  // namespace isotact

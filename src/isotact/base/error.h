// What is thrown for bad data and bad files. A programmer's mistake asserts instead.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace isotact {

// Where in a file something was found. Lines count from 1, bytes from 0.
struct FileSpot {
  std::string file;
  std::optional<std::uint64_t> line{};
  std::optional<std::uint64_t> byte{};
};

// A file's name made fit for a terminal: control codes as \\xNN, everything else (UTF-8) as it is.
std::string without_control_codes(std::string_view raw);

// "bunny.obj:12" or "part.stl: byte 84" or "part.stl".
std::string to_string(const FileSpot& spot);

// what() is a message that a user can act on: where, what was found, what was expected.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  Error(const FileSpot& spot, std::string_view message);
};

// Thrown out of a long operation whose CancelToken was set.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

// Text from a file made fit to be printed on one line of a terminal: at most max_length characters,
// control and non-ASCII bytes as \xNN.
std::string printable(std::string_view raw, std::size_t max_length = 40);

}  // namespace isotact

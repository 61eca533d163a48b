#include "command.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "isotact/base/error.h"

#include "report/hints.h"
#include "report/schema.h"

namespace isotact::tool {

void add_common_options(Command& command, CommonOptions& options) {
  command.add_flag("--json", options.json, "Print one JSON object (docs/json.md) instead of text");
  command.add_whole({.names = "--threads",
                     .help = "Threads to use; 0 uses all that the machine has (default: 0)",
                     .value_name = "N"},
                    options.threads, {0, 1024});
}

std::string without_negative_zeros(std::string text) {
  const auto is_in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  };
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 1)) {
    if (at > 0 && is_in_word(text[at - 1])) continue;
    const std::size_t end = std::min(text.find_first_not_of("0.", at + 1), text.size());
    const bool is_zero = end > at + 1 && text[at + 1] == '0' && text[end - 1] == '0';
    if (is_zero && (end == text.size() || !is_in_word(text[end]))) text.erase(at, 1);
  }
  return text;
}

void print_facts(const Facts& facts) {
  std::size_t width = 0;
  for (const auto& [key, value] : facts) width = std::max(width, key.size());
  for (const auto& [key, value] : facts)
    fmt::print("{:<{}}  {}\n", key, width, without_negative_zeros(value));
}

void print_json(const Json& object, const std::string& schema) {
  // Names from files may hold bytes that are not UTF-8: shown as replacement characters.
  Json whole = complete(schema, object);
  use_words_of_tool(whole);
  fmt::print("{}\n", whole.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_warnings(const std::string& file, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    fmt::print(stderr, "isotact: warning: {}: {}\n", without_control_codes(file),
               in_words_of_tool(warning));
}

void refuse_same_file(const std::string& input, const std::string& output) {
  std::error_code missing;
  if (std::filesystem::is_regular_file(output, missing) &&
      std::filesystem::equivalent(input, output, missing))
    throw UsageError(fmt::format("{} would replace what is read", without_control_codes(output)));
}

bool is_stdout(const std::string& output, const CommonOptions& options) {
  if (output != "-") return false;
  if (options.json) throw UsageError("-o - and --json both write to stdout");
  return true;
}

void write_stdout(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
      std::fflush(stdout) != 0)
    throw Error("cannot write to stdout");
}

void refuse_unit(const std::string& unit, const std::string& why) {
  if (!unit.empty()) throw UsageError(fmt::format("--unit {}: {}", unit, why));
}

std::string lower_extension(const std::string& file) {
  std::string extension = std::filesystem::path(file).extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

std::string format_count(std::uint64_t count) {
  const std::string digits = fmt::format("{}", count);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string format_count(std::uint64_t count, const std::string& thing) {
  return format_count(count) + " " + thing + (count == 1 ? "" : "s");
}

void check_extension(const std::string& output, const std::string& writable) {
  const std::string extension = lower_extension(output);
  std::istringstream words(writable);
  for (std::string word; words >> word;)
    if (word == extension) return;
  throw UsageError(fmt::format("{}: cannot be written, expected a name that ends in one of {}",
                               without_control_codes(output), writable));
}

}  // namespace isotact::tool

// What a program of this folder has to say: tables as they come, or one JSON object at the end.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace isotact::bench {

using Json = nlohmann::ordered_json;

// Tables go to stdout as they come, unless JSON is wanted; then numbers are kept for the end.
class Report {
 public:
  Report(std::string program, bool as_json) : program_(std::move(program)), as_json_(as_json) {}

  template <typename... T>
  void print(fmt::format_string<T...> format, T&&... values) {
    if (as_json_) return;
    fmt::print(format, std::forward<T>(values)...);
    std::fflush(stdout);
  }
  // A wrong answer makes the program fail, in the end: the other numbers are still of interest.
  void check(bool condition, const std::string& what) {
    if (condition) return;
    failures_.push_back(what);
    fmt::print(stderr, "{}: wrong: {}\n", program_, what);
  }
  const std::vector<std::string>& failures() const { return failures_; }
  // The end of a run: the JSON object, or `well` where nothing was wrong. The exit code.
  int finish(const char* well) {
    json["failures"] = failures_;
    if (as_json_) fmt::print("{}\n", json.dump(2));
    if (failures_.empty()) {
      print("\n{}\n", well);
      return 0;
    }
    fmt::print(stderr, "{}: error: {} wrong answers, named above\n", program_, failures_.size());
    return 1;
  }
  bool as_json() const { return as_json_; }

  Json json;

 private:
  std::string program_;
  bool as_json_;
  std::vector<std::string> failures_;
};

// Whether a part is among those that --only names; all are where it names none.
inline bool is_chosen(const std::vector<std::string>& only, std::string_view part) {
  return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
}

// A whole program: its options, then its run; 2 for wrong usage, 1 for what is thrown.
template <typename Options>
int run_program(const char* program, const char* usage, int argc, char** argv,
                bool (*read_options)(int, char**, Options&), int (*run)(const Options&)) {
  Options options;
  if (!read_options(argc, argv, options)) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: error: {}\n", program, error.what());
    return 1;
  }
}

}  // namespace isotact::bench

// What a program of this folder has to say: tables as they come, or one JSON object at the end.
#pragma once

#include <cstdio>
#include <string>
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
  bool as_json() const { return as_json_; }

  Json json;

 private:
  std::string program_;
  bool as_json_;
  std::vector<std::string> failures_;
};

}  // namespace isotact::bench

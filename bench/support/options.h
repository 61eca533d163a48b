// The options of a program of this folder, each named once: read, checked and explained.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace isotact::bench {

// Options that every program has. Programs add their own in a struct that begins with it.
struct RunOptions {
  bool json = false, quick = false, full = false;
  std::vector<std::string> only{};  // Parts. Empty: all.
  std::string words{};              // As given, without --json and --only: for the command.
};

class OptionReader {
 public:
  // Takes the program's name, and the start of its options: --json is always present.
  OptionReader(std::string program, RunOptions& options);

  void flag(std::string name, bool& value, std::string help);
  void number(std::string name, double& value, double least, double most, std::string help);
  void number(std::string name, int& value, int least, int most, std::string help);
  void text(std::string name, std::string value_name, std::string& value, std::string help);
  void folder(std::string name, std::filesystem::path& value, std::string help);
  // Options that most programs have, with their meaning there.
  void quick(std::string help) { flag("--quick", options_.quick, std::move(help)); }
  void full(std::string help) { flag("--full", options_.full, std::move(help)); }
  // "--only NAME", one of the names; may be repeated.
  void only(std::vector<std::string> names);

  // Returns false if a word is unknown, a value is missing or out of range, or both --quick and
  // --full are given.
  bool read(int argc, char** argv);
  std::string usage() const;

 private:
  struct Option {
    std::string name, value_name, help;
    std::function<bool(const std::string&)> take;  // False: not a value of this option.
    bool repeats = false;
  };

  std::string program_;
  RunOptions& options_;
  std::vector<Option> list_;
};

// Returns whether a part is among those that --only names. All are if it names none.
bool is_chosen(const std::vector<std::string>& only, std::string_view part);

template <typename Parts>
std::vector<std::string> names_of(const Parts& parts) {
  std::vector<std::string> names;
  for (const auto& part : parts) names.emplace_back(part.name);
  return names;
}

// A whole program: its options, then its run. Returns 2 for wrong usage, 1 after an exception.
template <typename Options>
int run_program(const char* program, int argc, char** argv,
                void (*name_options)(OptionReader&, Options&), int (*run)(const Options&)) {
  Options options;
  OptionReader reader(program, options);
  name_options(reader, options);
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    fmt::print("{}", reader.usage());
    return 0;
  }
  if (!reader.read(argc, argv)) {
    fmt::print(stderr, "{}", reader.usage());
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

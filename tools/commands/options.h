// The command line as the subcommands see it. CLI11 takes ten seconds to compile, so only
// options.cpp includes it.
#pragma once

#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "isotact/base/vec.h"

namespace CLI {
class App;
}

namespace isotact::tool {

// Wrong usage that is found while a subcommand runs: exit code 2, as for any other.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A failure that has been printed: exit code 1.
class AlreadyReported : public std::exception {};

// The answer, which has been printed, is what --fail-on asked for: exit code 3.
class VerdictFailed : public std::exception {};

struct OptionInfo {
  std::string names;  // "-o,--output", or "FILE" for a positional one.
  std::string help;
  std::string value_name{};  // As shown in help.
  bool required = false;
  std::vector<std::string> choices{};  // None: any.
};

struct NumberRange {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
};

struct LengthUnit {
  const char* name = "m";
  double metres = 1;

  std::string format(double length) const;  // "4.97 mm", six digits at most
  std::string format(const Vec3& point) const;
};
inline constexpr LengthUnit kLengthUnits[] = {{"mm", 1e-3}, {"cm", 1e-2}, {"in", 0.0254}, {"m", 1}};

// Metres, of "5mm" or "0.005". Empty for other text.
std::optional<double> parse_length_text(std::string_view text);

// One subcommand while it is set up. Targets must live until the command line has been run.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  void add_flag(const std::string& names, bool& target, const std::string& help);
  void add_text(const OptionInfo& info, std::string& target);
  void add_texts(const OptionInfo& info, std::vector<std::string>& target);  // May be repeated.
  void add_number(const OptionInfo& info, double& target, NumberRange range);
  // Metres, or with a unit: 0.005, 5mm. The range is in metres.
  void add_length(const OptionInfo& info, double& target, NumberRange range);
  void add_whole(const OptionInfo& info, int& target, NumberRange range);
  void set_examples(const std::string& text);
  void on_run(std::function<void()> run);

 private:
  CLI::App* app_;
};

// The subcommand whose callback runs; a process runs one.
const std::string& running_command();                 // "collide"; empty before it runs
bool running_command_has(const std::string& option);  // "--unit"

// Wrong usage if one of these options of the running subcommand was given, since it would do
// nothing: "--axis, --at: they place the cut of --picture".
void refuse_given(const std::vector<std::string>& options, const std::string& why);

// A subcommand's or the whole program's names, for completion.
struct CommandNames {
  std::string name;
  std::vector<std::string> long_options;  // With their dashes.
};

class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command add_command(const std::string& name, const std::string& help);
  std::vector<CommandNames> commands() const;

  // Parses, runs the chosen subcommand and returns the exit code: 0, or 2 for wrong usage, which it
  // has printed. Exceptions of the subcommand pass through.
  int run(int argc, char** argv);

 private:
  CLI::App* app_;
};

}  // namespace isotact::tool

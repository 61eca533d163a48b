#include "options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/version.h"

namespace isotact::tool {
namespace {

constexpr int kWrongUsage = 2;

const CLI::App* running = nullptr;  // the subcommand whose callback runs

// Without a description, which CLI11 would print after the value's name.
CLI::Validator one_of(const std::vector<std::string>& choices) {
  return CLI::Validator(
      [choices](const std::string& text) -> std::string {
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
        return fmt::format("'{}' is not one of {}", text, fmt::join(choices, ", "));
      },
      "");
}

CLI::Option& finish(CLI::Option& option, const OptionInfo& info) {
  option.type_name(info.value_name);
  if (info.required) option.required();
  if (!info.choices.empty()) option.check(one_of(info.choices));
  return option;
}

// Without the range in the help text, which CLI11 would repeat after the value's name. Also refuses
// NaN, which is in no range.
CLI::Validator in_range(NumberRange range) {
  return CLI::Validator(
      [range](const std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= range.lowest &&
            value <= range.highest)
          return {};
        return fmt::format("'{}' is not a number from {} to {}", text, range.lowest, range.highest);
      },
      "");
}

// The subcommand that was chosen, for the hint under a usage error.
std::string chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen.front()->get_name();
}

bool has_command(const CLI::App& app, const std::string& name) {
  const auto all = app.get_subcommands({});
  return std::any_of(all.begin(), all.end(),
                     [&](const CLI::App* command) { return command->get_name() == name; });
}

// "--acuracy is not an option; did you mean --accuracy?" Empty if no left word starts as an option.
std::string name_unknown_option(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const std::string& word : app.remaining(true)) {
    const std::string given = word.substr(0, word.find('='));
    if (given.size() < 2 || given.front() != '-') continue;
    const std::string end = suggest(given, names);
    const std::string_view guess = std::string_view(end).substr(0, end.find('?'));
    const bool is_near = guess.find("did you mean") != std::string_view::npos;
    return fmt::format("{} is not an option{}", printable(given),
                       is_near ? std::string(guess) + "?" : std::string());
  }
  return {};
}

int print_usage_error(const CLI::App& app, const char* message) {
  fmt::print(stderr, "isotact: error: {}\nTry '{} --help'.\n", message, chosen_command(app));
  return kWrongUsage;
}

}  // namespace

std::optional<double> parse_length_text(std::string_view text) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || !std::isfinite(value)) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (rest.empty()) return value;
  for (const LengthUnit& unit : kLengthUnits)
    if (rest == unit.name) return value * unit.metres;
  return std::nullopt;
}

void Command::add_flag(const std::string& names, bool& target, const std::string& help) {
  app_->add_flag(names, target, help);
}

void Command::add_text(const OptionInfo& info, std::string& target) {
  finish(*app_->add_option(info.names, target, info.help), info);
}

void Command::add_texts(const OptionInfo& info, std::vector<std::string>& target) {
  CLI::Option& option = finish(*app_->add_option(info.names, target, info.help), info);
  // One value each time it is named, so that positionals may follow it.
  if (info.names.front() == '-') option.allow_extra_args(false);
}

void Command::add_number(const OptionInfo& info, double& target, NumberRange range) {
  finish(*app_->add_option(info.names, target, info.help)->check(in_range(range)), info);
}

void Command::add_length(const OptionInfo& info, double& target, NumberRange range) {
  const auto in_metres = [range](std::string& text) -> std::string {
    const std::optional<double> metres = parse_length_text(text);
    if (!metres) return fmt::format("'{}' is not a length such as 5mm or 0.005", text);
    if (!(*metres >= range.lowest && *metres <= range.highest))
      return fmt::format("'{}' is not a length from {} to {} metres", text, range.lowest,
                         range.highest);
    text = fmt::format("{}", *metres);
    return {};
  };
  finish(*app_->add_option(info.names, target, info.help)->transform(CLI::Validator(in_metres, "")),
         info);
}

void Command::add_whole(const OptionInfo& info, int& target, NumberRange range) {
  finish(*app_->add_option(info.names, target, info.help)->check(in_range(range)), info);
}

void Command::set_examples(const std::string& text) { app_->footer(text); }

void Command::on_run(std::function<void()> run) {
  app_->callback([app = app_, run = std::move(run)] {
    running = app;
    run();
  });
}

const std::string& running_command() {
  static const std::string none;
  return running == nullptr ? none : running->get_name();
}

bool running_command_has(const std::string& option) {
  return running != nullptr && running->get_option_no_throw(option) != nullptr;
}

void refuse_given(const std::vector<std::string>& options, const std::string& why) {
  std::string given;
  for (const std::string& option : options)
    if (running_command_has(option) && running->count(option) > 0)
      given += (given.empty() ? "" : ", ") + option;
  if (!given.empty()) throw UsageError(fmt::format("{}: {}", given, why));
}

CommandLine::CommandLine()
    : app_(
          new CLI::App("Collision detection and contact with signed distance fields.", "isotact")) {
  app_->require_subcommand(1);
  app_->set_version_flag("--version", "isotact " ISOTACT_VERSION_STRING,
                         "Print the version and exit");
  app_->get_formatter()->column_width(32);
  app_->failure_message(CLI::FailureMessage::simple);
}

CommandLine::~CommandLine() { delete app_; }

Command CommandLine::add_command(const std::string& name, const std::string& help) {
  return Command(*app_->add_subcommand(name, help));
}

std::vector<CommandNames> CommandLine::commands() const {
  std::vector<CommandNames> all;
  for (const CLI::App* command : app_->get_subcommands({})) {
    CommandNames names{.name = command->get_name(), .long_options = {}};
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames())
        names.long_options.push_back("--" + name);
    all.push_back(std::move(names));
  }
  return all;
}

int CommandLine::run(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-' && !has_command(*app_, argv[1])) {
    std::string verbs;
    for (const CommandNames& command : commands()) verbs += " " + command.name;
    return print_usage_error(
        *app_, fmt::format("'{}' is not a subcommand; there are:{}", argv[1], verbs).c_str());
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp& call) {
    return app_->exit(call);
  } catch (const CLI::CallForVersion& call) {
    return app_->exit(call);
  } catch (const CLI::ExtrasError& error) {
    const std::string unknown = name_unknown_option(*app_);
    return print_usage_error(*app_, unknown.empty() ? error.what() : unknown.c_str());
  } catch (const CLI::ParseError& error) {
    return print_usage_error(*app_, error.what());
  } catch (const UsageError& error) {
    return print_usage_error(*app_, error.what());
  }
  return 0;
}

}  // namespace isotact::tool

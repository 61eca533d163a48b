#include "options.h"

#include <algorithm>
#include <charconv>

namespace isotact::bench {
namespace {

template <typename Number>
bool take_number(const std::string& text, Number& value, Number least, Number most) {
  Number read{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), read);
  if (problem != std::errc{} || end != text.data() + text.size()) return false;
  if (!(read >= least && read <= most)) return false;
  value = read;
  return true;
}

}  // namespace

OptionReader::OptionReader(std::string program, RunOptions& options)
    : program_(std::move(program)), options_(options) {
  flag("--json", options.json, "one JSON object in the end, no tables");
}

void OptionReader::flag(std::string name, bool& value, std::string help) {
  list_.push_back({std::move(name), "", std::move(help), [&value](const std::string&) {
                     value = true;
                     return true;
                   }});
}

void OptionReader::number(std::string name, double& value, double least, double most,
                          std::string help) {
  list_.push_back({std::move(name), "N", std::move(help), [&value, least, most](const auto& text) {
                     return take_number(text, value, least, most);
                   }});
}

void OptionReader::number(std::string name, int& value, int least, int most, std::string help) {
  list_.push_back({std::move(name), "N", std::move(help), [&value, least, most](const auto& text) {
                     return take_number(text, value, least, most);
                   }});
}

void OptionReader::text(std::string name, std::string value_name, std::string& value,
                        std::string help) {
  list_.push_back(
      {std::move(name), std::move(value_name), std::move(help), [&value](const std::string& text) {
         value = text;
         return !text.empty();
       }});
}

void OptionReader::folder(std::string name, std::filesystem::path& value, std::string help) {
  list_.push_back({std::move(name), "FOLDER", std::move(help), [&value](const std::string& text) {
                     value = text;
                     return !text.empty();
                   }});
}

void OptionReader::only(std::vector<std::string> names) {
  std::string help = fmt::format("a part: {}; may be repeated", fmt::join(names, " "));
  list_.push_back({"--only", "NAME", std::move(help),
                   [this, names = std::move(names)](const std::string& text) {
                     if (std::find(names.begin(), names.end(), text) == names.end()) return false;
                     options_.only.push_back(text);
                     return true;
                   },
                   true});
}

bool OptionReader::read(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto option = std::find_if(list_.begin(), list_.end(),
                                     [&](const Option& known) { return known.name == word; });
    if (option == list_.end()) return false;
    const bool has_value = !option->value_name.empty();
    if (has_value && i + 1 >= argc) return false;
    const std::string value = has_value ? argv[++i] : "";
    if (!option->take(value)) return false;
    if (word == "--json" || word == "--only") continue;
    options_.words += (options_.words.empty() ? "" : " ") + word + (has_value ? " " + value : "");
  }
  return !(options_.quick && options_.full);
}

std::string OptionReader::usage() const {
  std::string head = "usage: " + program_, lines;
  std::size_t width = 0;
  const auto named = [](const Option& option) {
    return option.value_name.empty() ? option.name : option.name + " " + option.value_name;
  };
  for (const Option& option : list_) width = std::max(width, named(option).size());
  for (const Option& option : list_) {
    head += fmt::format(" [{}]{}", named(option), option.repeats ? "..." : "");
    lines += fmt::format("  {:<{}}  {}\n", named(option), width, option.help);
  }
  return head + "\n" + lines;
}

bool is_chosen(const std::vector<std::string>& only, std::string_view part) {
  return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
}

}  // namespace isotact::bench

// isotact completion bash: a completion script made from the commands themselves, so that it never
// falls behind them.
#include <fmt/format.h>

#include "isotact/geometry/primitives/primitives.h"

#include "command.h"

namespace isotact::tool {
namespace {

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_script(const CommandLine& line) {
  std::vector<std::string> verbs, shapes;
  std::string cases, parameters;
  for (const CommandNames& command : line.commands()) {
    verbs.push_back(command.name);
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, joined(command.long_options));
  }
  for (const ShapeInfo& shape : shape_catalogue()) {
    shapes.push_back(shape.name);
    std::vector<std::string> settings;
    for (const ShapeParameter& p : shape.parameters) settings.push_back(p.name + "=");
    parameters += fmt::format("      {}) parameters=\"{}\" ;;\n", shape.name, joined(settings));
  }
  return fmt::format(R"(# bash completion for isotact
_isotact() {{
  local IFS=$'\n' current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local words="" parameters=""
  _isotact_words() {{ mapfile -t COMPREPLY < <(compgen -W "${{1// /$'\n'}}" -- "$current"); }}
  if [ "$COMP_CWORD" -eq 1 ]; then
    _isotact_words "{} --help --version"
    return
  fi
  if [ "$previous" = --unit ] || [ "$previous" = --print-unit ]; then
    _isotact_words "m cm mm in"
    return
  fi
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [ "${{COMP_WORDS[1]}}" = make ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then
      _isotact_words "{} $words"
      return
    fi
    case ${{COMP_WORDS[2]}} in
{}    esac
    if [ "$previous" = --set ]; then
      compopt -o nospace 2>/dev/null
      _isotact_words "$parameters"
      return
    fi
  fi
  case $current in
    -*) _isotact_words "$words" ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
  esac
}}
complete -o filenames -F _isotact isotact
)",
                     joined(verbs), cases, joined(shapes), parameters);
}

}  // namespace

void add_completion(CommandLine& line) {
  Command command = line.add_command("completion", "Print a shell completion script");
  command.set_examples("Example:\n  source <(isotact completion bash)");
  auto shell = std::make_shared<std::string>();
  command.add_text({.names = "SHELL", .help = "bash", .required = true, .choices = {"bash"}},
                   *shell);
  command.on_run([&line, shell] { fmt::print("{}", bash_script(line)); });
}

}  // namespace isotact::tool

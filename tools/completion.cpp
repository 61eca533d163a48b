// isotact completion bash: a completion script made from the commands themselves, so that it never
// falls behind them.
#include <fmt/format.h>

#include "isotact/geometry/primitives.h"

#include "command.h"

namespace isotact::tool {
namespace {

std::string shape_names() {
  std::string names;
  for (const ShapeInfo& shape : shape_catalogue()) names += " " + std::string(shape.name);
  return names;
}

std::string bash_script(const CommandLine& line) {
  std::string verbs, cases;
  for (const CommandNames& command : line.commands()) {
    verbs += " " + command.name;
    cases += fmt::format("    {}) options=\"{}\" ;;\n", command.name,
                         fmt::join(command.long_options, " "));
  }
  return fmt::format(R"(# bash completion for isotact
_isotact() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case $previous in
    --unit) COMPREPLY=($(compgen -W "m cm mm in" -- "$current")); return ;;
    make) COMPREPLY=($(compgen -W "{} --help --list" -- "$current")); return ;;
    completion) COMPREPLY=($(compgen -W "bash" -- "$current")); return ;;
  esac
  case ${{COMP_WORDS[1]}} in
{}  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _isotact isotact
)",
                     verbs, shape_names(), cases);
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

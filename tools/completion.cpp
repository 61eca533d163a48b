// isotact completion bash: a completion script made from the commands themselves, so that it never
// falls behind them.
#include <fmt/format.h>

#include "command.h"
#include "isotact/geometry/primitives.h"

namespace isotact::tool {
namespace {

std::string words_of(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) words += " --" + name;
  return words;
}

std::string shape_names() {
  std::string names;
  for (const ShapeInfo& shape : shape_catalogue()) names += " " + std::string(shape.name);
  return names;
}

std::string bash_script(const CLI::App& app) {
  std::string verbs, cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    verbs += " " + command->get_name();
    cases += fmt::format("    {}) options=\"{}\" ;;\n", command->get_name(), words_of(*command));
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

void add_completion(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("completion", "Print a shell completion script");
  command.footer("Example:\n  source <(isotact completion bash)");
  auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash")->required()->check(CLI::IsMember({"bash"}))->type_name(
      "");
  command.callback([&app, shell] { fmt::print("{}", bash_script(app)); });
}

}  // namespace isotact::tool

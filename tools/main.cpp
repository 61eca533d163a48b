// The isotact program: reads the command line and turns every failure into one line on stderr.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <new>

#include "command.h"
#include "isotact/base/error.h"

namespace {

using isotact::tool::interrupt_token;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

extern "C" void on_interrupt(int /*signal*/) {
  interrupt_token().cancel();
  std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C stops at once
}

int fail(const char* message) {
  fmt::print(stderr, "isotact: error: {}\n", message);
  return kFailed;
}

// The subcommand that was being parsed, for the hint under a usage error.
std::string command_line_of(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app.get_name() : app.get_name() + " " + chosen.front()->get_name();
}

void add_commands(CLI::App& app) {
  using namespace isotact::tool;
  app.require_subcommand(1);
  app.set_version_flag("--version", "isotact " ISOTACT_VERSION, "Print the version and leave");
  app.get_formatter()->column_width(32);
  add_make(app);
  add_info(app);
  add_convert(app);
  add_render(app);
  add_bench(app);
  add_demo(app);
  add_doctor(app);
  add_completion(app);
}

int run(int argc, char** argv) {
  CLI::App app("Collision detection and contact with signed distance fields.", "isotact");
  add_commands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& call) {
    return app.exit(call);
  } catch (const CLI::CallForVersion& call) {
    return app.exit(call);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "isotact: error: {}\nTry '{} --help'.\n", error.what(),
               command_line_of(app));
    return kWrongUsage;
  }
  // A full disk or a closed pipe shows only when the output is flushed.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return fail("cannot write to stdout");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, on_interrupt);
  try {
    return run(argc, argv);
  } catch (const isotact::Error& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

// isotact view: shows a run in a browser, from this machine only.
#include <cstdio>

#include <fmt/format.h>

#include "isotact/base/progress.h"
#include "isotact/scene/run.h"

#include "command.h"
#include "page_server.h"
#include "run_page.h"
#include "scene_engines.h"

namespace isotact::tool {
namespace {

struct ViewOptions {
  CommonOptions common;
  std::string run;
  int port = 0;
};

std::string page_of_scene(const ViewOptions& o) {
  require_viewer();
  const Scene scene = read_scene(o.run);
  SceneRun run(
      scene,
      {.threads = o.common.thread_setting(), .keep_paths = true, .engines = built_in_engines()});
  {
    ProgressBar bar;
    const Monitor monitor = bar.monitor();
    const std::uint64_t all = step_count(scene);
    run.go(all, [&](const StepReport& report) {
      monitor.report({"simulating", report.number, all});
      return true;
    });
  }
  print_warnings(o.run, run.warnings());
  if (const auto trouble = run.find_trouble())
    fmt::print(stderr, "isotact: warning: {}: the run was stopped: {}\n", o.run, trouble->message);
  return make_run_page(run, o.common.threads);
}

void run_view(const ViewOptions& o) {
  const std::string page =
      lower_extension(o.run) == ".json" ? page_of_scene(o) : read_run_page(o.run);
  serve_page(page, o.port, [&](int port) {
    const std::string url = fmt::format("http://127.0.0.1:{}/", port);
    if (o.common.json)
      print_json({{"url", url}, {"port", port}, {"bytes", page.size()}});
    else
      fmt::print("{}  (Ctrl-C ends it)\n", url);
    std::fflush(stdout);  // who waits for it reads a pipe, perhaps
  });
}

}  // namespace

void add_view(CommandLine& line) {
  auto options = std::make_shared<ViewOptions>();
  Command command = line.add_command("view", "Show a run in a browser");
  command.set_examples(
      "Examples:\n"
      "  isotact view scenes/chain.json\n"
      "  isotact view chain.html --port 8080");
  command.add_text({.names = "RUN",
                    .help = "A page that simulate wrote (.html), or a scene (.json), which is run",
                    .required = true},
                   options->run);
  command.add_whole({.names = "--port",
                     .help = "Of 127.0.0.1; nobody else can reach it (default: any that is free)",
                     .value_name = "N"},
                    options->port, {0, 65535});
  add_common_options(command, options->common);
  command.on_run([options] { run_view(*options); });
}

}  // namespace isotact::tool

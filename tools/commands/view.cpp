// isotact view: shows a run in a browser, from this machine only.
#include <cstdio>

#include <fmt/format.h>

#include "isotact/base/progress.h"
#include "isotact/scene/run/run.h"

#include "command.h"
#include "input/scene_engines.h"
#include "page/page_server.h"
#include "page/run_page.h"

namespace isotact::tool {
namespace {

struct ViewOptions {
  CommonOptions common;
  std::string run;
  int port = 0;
};

// Warnings of the run are printed and added.
std::string page_of_scene(const ViewOptions& o, std::vector<std::string>& warnings) {
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
  warnings = run.warnings();
  if (const auto trouble = run.trouble())
    warnings.push_back("the run was stopped: " + trouble->message);
  print_warnings(o.run, warnings);
  return make_run_page(run, o.common.threads);
}

void run_view(const ViewOptions& o) {
  std::vector<std::string> warnings;
  const std::string page =
      lower_extension(o.run) == ".json" ? page_of_scene(o, warnings) : read_run_page(o.run);
  serve_page(page, o.port, [&](int port) {
    const std::string url = fmt::format("http://127.0.0.1:{}/", port);
    if (o.common.json)
      print_json({{"url", url}, {"port", port}, {"bytes", page.size()}, {"warnings", warnings}});
    else
      fmt::print("{}  (Ctrl-C ends it)\n", url);
    std::fflush(stdout);  // who waits for it reads a pipe, perhaps
  });
}

}  // namespace

void add_view(CommandLine& line) {
  auto options = std::make_shared<ViewOptions>();
  Command command =
      line.add_command("view", "Serve the page of a run to a browser on this machine");
  command.set_examples(
      "Examples:\n"
      "  isotact view scenes/chain.json\n"
      "  isotact view chain.html --port 8080");
  command.add_text({.names = "RUN",
                    .help = "Page that simulate or collide --view wrote (.html), or scene (.json), "
                            "which is run first",
                    .required = true},
                   options->run);
  command.add_whole({.names = "--port",
                     .help = "Port to serve on, on 127.0.0.1 only: other machines cannot reach it "
                             "(default: any free)",
                     .value_name = "N"},
                    options->port, {0, 65535});
  add_common_options(command, options->common);
  command.on_run([options] { run_view(*options); });
}

}  // namespace isotact::tool

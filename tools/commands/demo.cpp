// isotact demo: a tour of what is there, in about a minute, on shapes that it makes itself.
#include <system_error>

#include "isotact/base/error.h"

#include "demo/demo_story.h"
#include "page/run_page.h"

namespace isotact::tool {
namespace {

struct DemoOptions {
  CommonOptions common;
  std::string folder = "isotact-demo";
};

// The last line: what to do next.
void print_end(const DemoReplay& replay, double seconds) {
  const std::string path = without_control_codes(std::filesystem::absolute(replay.file).string());
  if (replay.is_page)
    fmt::print("Done in {:.0f} s. Open this page in a browser to see it move: {}\n", seconds, path);
  else
    fmt::print(
        "Done in {:.0f} s. To see it move, open {} in any glTF viewer (pages that play runs are "
        "{})\n",
        seconds, path, viewer_support());
}

void run_demo(const DemoOptions& options) {
  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw Error({.file = options.folder}, "cannot make this folder: " + error.message());
  Story story(folder, options.common);
  const Stopwatch watch;
  write_and_read_shapes(story);
  tell_inside_from_outside(story);
  find_closest_points_of_parts(story);
  build_and_ask_field(story);
  find_continuous_contact(story);
  const DemoReplay replay = run_demo_scene(story);
  draw_shapes(story);
  story.facts["seconds"] = watch.seconds();
  if (options.common.json)
    print_json(story.facts);
  else
    print_end(replay, watch.seconds());
  if (!replay.is_in_trouble) return;
  fmt::print(stderr, "isotact: error: the run of the demo was stopped early\n");
  throw AlreadyReported();
}

}  // namespace

void add_demo(CommandLine& line) {
  auto options = std::make_shared<DemoOptions>();
  Command command = line.add_command(
      "demo", "Take a tour in one minute: shapes, fields, contact, a run and its page");
  command.set_examples("Example:\n  isotact demo -o tour");
  command.add_text({.names = "-o,--output",
                    .help = "Folder to write to (default: isotact-demo)",
                    .value_name = "FOLDER"},
                   options->folder);
  add_common_options(command, options->common);
  command.on_run([options] { run_demo(*options); });
}

}  // namespace isotact::tool

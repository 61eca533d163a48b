#include "picture_output.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/base/error.h"

#include "commands/options.h"

namespace isotact::tool {

void check_picture_name(const std::string& name, const CommonOptions& options) {
  if (is_stdout(name, options)) return;
  const std::filesystem::path path(name);
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::error_code ignored;
  const bool is_file =
      !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
  if (is_file && extension != ".png")
    throw UsageError(fmt::format("-o {}: pictures are written as .png", path.string()));
}

void write_picture(const std::string& path, const Picture& picture) {
  if (path == "-")
    write_stdout(encode_png(picture));
  else
    write_png(path, picture);
}

void print_picture(const std::string& path, const Picture& picture, double seconds) {
  if (path != "-" && path != "/dev/stdout")
    fmt::print("{}: {} x {} pixels in {:.1f} s\n", without_control_codes(path), picture.width,
               picture.height, seconds);
}

}  // namespace isotact::tool

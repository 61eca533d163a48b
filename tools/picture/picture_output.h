// Common parts of the subcommands that draw pictures.
#pragma once

#include <string>

#include "commands/command.h"
#include "picture/picture.h"

namespace isotact::tool {

// Throws UsageError for names of other formats than PNG. Devices and pipes have no such name. "-"
// is stdout, but not with --json.
void check_picture_name(const std::string& name, const CommonOptions& options);

void write_picture(const std::string& path, const Picture& picture);

// Prints "part.png: 1200 x 800 pixels in 1.2 s"; prints nothing if the picture itself went to
// stdout.
void print_picture(const std::string& path, const Picture& picture, double seconds);

}  // namespace isotact::tool

// What the subcommands that draw pictures share.
#pragma once

#include <string>

#include "command.h"
#include "picture/picture.h"

namespace isotact::tool {

// Anything else than a PNG would only carry a wrong name: UsageError. Devices and pipes have none.
// "-" is stdout, but not with --json.
void check_picture_name(const std::string& name, const CommonOptions& options);

void write_picture(const std::string& path, const Picture& picture);

// "part.png: 1200 x 800 pixels in 1.2 s"; nothing where the picture itself went to stdout.
void print_picture(const std::string& path, const Picture& picture, double seconds);

}  // namespace isotact::tool

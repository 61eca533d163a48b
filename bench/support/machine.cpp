#include "machine.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "isotact/base/machine.h"
#include "isotact/base/parallel.h"
#include "isotact/version.h"

namespace isotact::bench {
namespace {

// "a : b" or a="b": what follows the key in the first line that begins with it.
std::string find_line(const char* file, const std::string& key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    std::string value = line.substr(std::min(line.find(separator), line.size() - 1) + 1);
    std::erase(value, '"');
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  }
  return "";
}

std::string describe_processor() {
  const std::string model = find_line("/proc/cpuinfo", "model name", ':');
  const bool is_virtual =
      find_line("/proc/cpuinfo", "flags", ':').find(" hypervisor") != std::string::npos;
  return (model.empty() ? "unknown processor" : model) + (is_virtual ? " (virtual machine)" : "");
}

std::string describe_system() {
  utsname kernel{};
  std::string system = find_line("/etc/os-release", "PRETTY_NAME", '=');
  if (::uname(&kernel) != 0) return system;
  return fmt::format("{}, {} {}", system, kernel.sysname, kernel.release);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

}  // namespace

nlohmann::ordered_json describe_machine() {
  double load = 0;
  if (::getloadavg(&load, 1) != 1) load = 0;
  return {{"processor", describe_processor()},
          {"threads", std::thread::hardware_concurrency()},
          {"thread_backend", thread_backend()},
          {"memory_bytes", physical_memory()},
          {"system", describe_system()},
          {"isotact", ISOTACT_VERSION_STRING},
          {"date", today()},
          {"load", load}};
}

}  // namespace isotact::bench

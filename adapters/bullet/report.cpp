#include "isotact/adapters/bullet/report.h"

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

namespace isotact {
namespace {

struct Reports {
  std::mutex mutex;
  std::set<std::string> said;
  std::function<void(const std::string&)> handler;
};

Reports& reports() {
  static Reports instance;
  return instance;
}

}  // namespace

void set_bullet_error_handler(std::function<void(const std::string&)> handler) {
  const std::scoped_lock lock(reports().mutex);
  reports().handler = std::move(handler);
}

bool report_bullet_error(const std::string& message) {
  std::function<void(const std::string&)> handler;
  {
    const std::scoped_lock lock(reports().mutex);
    if (!reports().said.insert(message).second) return false;
    handler = reports().handler;
  }
  if (handler)
    handler(message);
  else
    std::fprintf(stderr, "isotact: error: %s\n", message.c_str());
  return true;
}

void forget_bullet_errors() {
  const std::scoped_lock lock(reports().mutex);
  reports().said.clear();
}

}  // namespace isotact

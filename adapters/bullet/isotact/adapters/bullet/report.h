// Where the plug-in says what it can not do. Each such thing is said once in a process.
#pragma once

#include <functional>
#include <string>

namespace isotact {

// The default writes "isotact: error: ..." to stderr. An empty function brings the default back.
// Thread safe; the handler may be called from any thread that steps a world.
void set_bullet_error_handler(std::function<void(const std::string&)> handler);

// Through the handler; true where `message` had not been reported before.
bool report_bullet_error(const std::string& message);

// For tests: everything counts as not reported yet.
void forget_bullet_errors();

}  // namespace isotact

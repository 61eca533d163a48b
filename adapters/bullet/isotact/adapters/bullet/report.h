// Reports of unsupported requests of the plug-in. Each message is reported once per process.
#pragma once

#include <functional>
#include <string>

namespace isotact {

// The default writes "isotact: error: ..." to stderr. An empty function restores the default.
// Thread safe. Any thread that steps a world may call the handler.
void set_bullet_error_handler(std::function<void(const std::string&)> handler);

// Calls the handler; returns true if `message` had not been reported before.
bool report_bullet_error(const std::string& message);

// For tests: clears the list of reported messages.
void forget_bullet_errors();

}  // namespace isotact

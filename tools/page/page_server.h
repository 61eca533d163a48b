// Serves one page on this machine, and nothing else.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace isotact::tool {

// The answer to a request. Pure: no sockets. `request` is everything up to the empty line.
struct PageResult {
  int status = 200;
  std::string header{};  // With the empty line at its end.
  bool with_page = false;
};
// GET and HEAD of "/" return the page. Other paths are not found, and other methods are not
// allowed. Hosts other than this machine's names with this port are refused: a page of another site
// that points its name here (DNS rebinding) gets nothing.
PageResult answer_page_request(std::string_view request, int port, std::size_t page_bytes);

// Listens on 127.0.0.1 only; port 0: any free one. Calls ready(port), then serves one request after
// the other until SIGINT or SIGTERM. Throws Error if it cannot listen.
void serve_page(const std::string& page, int port, const std::function<void(int port)>& ready);

}  // namespace isotact::tool

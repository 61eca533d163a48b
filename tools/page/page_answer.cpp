#include <array>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "page_server.h"

namespace isotact::tool {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i])) return false;
  return true;
}

std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + end.size());
  return taken;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Of the field "Host". Two of them are none: who reads the other one?
std::optional<std::string_view> find_host(std::string_view fields) {
  std::optional<std::string_view> host;
  while (!fields.empty()) {
    std::string_view line = take_until(fields, "\r\n");
    if (!equal_ignoring_case(take_until(line, ":"), "Host")) continue;
    if (host) return {};
    host = trimmed(line);
  }
  return host;
}

bool is_ours(std::string_view host, int port) {
  for (const char* name : {"127.0.0.1", "localhost"}) {
    if (equal_ignoring_case(host, fmt::format("{}:{}", name, port))) return true;
    if (port == 80 && equal_ignoring_case(host, name)) return true;
  }
  return false;
}

PageResult refuse(int status, std::string_view reason, std::string_view fields = "") {
  return {
      .status = status,
      .header = fmt::format("HTTP/1.1 {} {}\r\n{}Content-Length: 0\r\nConnection: close\r\n\r\n",
                            status, reason, fields)};
}

}  // namespace

PageResult answer_page_request(std::string_view request, int port, std::size_t page_bytes) {
  std::string_view line = take_until(request, "\r\n");
  const std::string_view method = take_until(line, " "), target = take_until(line, " ");
  if (line != "HTTP/1.1" && line != "HTTP/1.0") return refuse(400, "Bad Request");
  const auto host = find_host(request);
  if (!host || !is_ours(*host, port)) return refuse(403, "Forbidden");
  if (method != "GET" && method != "HEAD")
    return refuse(405, "Method Not Allowed", "Allow: GET, HEAD\r\n");
  if (target != "/") return refuse(404, "Not Found");
  return {.header = fmt::format("HTTP/1.1 200 OK\r\n"
                                "Content-Type: text/html; charset=utf-8\r\n"
                                "Content-Length: {}\r\n"
                                "Cache-Control: no-store\r\n"
                                "X-Content-Type-Options: nosniff\r\n"
                                "X-Frame-Options: DENY\r\n"
                                "Referrer-Policy: no-referrer\r\n"
                                "Cross-Origin-Resource-Policy: same-origin\r\n"
                                "Connection: close\r\n\r\n",
                                page_bytes),
          .with_page = method == "GET"};
}

}  // namespace isotact::tool

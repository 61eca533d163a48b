// What `isotact view` answers, without a socket.
#include <gtest/gtest.h>

#include "page/page_server.h"

namespace isotact::tool {
namespace {

std::string request(const std::string& line, const std::string& host = "127.0.0.1:8080") {
  return line + " HTTP/1.1\r\nAccept: */*\r\nHost: " + host + "\r\n";
}
int status_of(const std::string& text) { return answer_page_request(text, 8080, 42).status; }

TEST(PageResult, HasThePageAtItsRootOnly) {
  const PageResult page = answer_page_request(request("GET /"), 8080, 42);
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.with_page);
  EXPECT_NE(page.header.find("Content-Length: 42\r\n"), std::string::npos);
  EXPECT_EQ(page.header.substr(page.header.size() - 4), "\r\n\r\n");
  EXPECT_FALSE(answer_page_request(request("HEAD /"), 8080, 42).with_page);
  for (const char* path : {"/index.html", "/../etc/passwd", "//", "/?", "/%2e%2e", "*", "\\", ""})
    EXPECT_EQ(status_of(request(std::string("GET ") + path)), 404) << path;
}

TEST(PageResult, RefusesOtherMethodsAndHosts) {
  for (const char* method : {"POST", "PUT", "get", "CONNECT", "OPTIONS", "TRACE", ""})
    EXPECT_EQ(status_of(request(std::string(method) + " /")), 405) << method;
  for (const char* host : {"localhost:8080", "LOCALHOST:8080", " 127.0.0.1:8080 "})
    EXPECT_EQ(status_of(request("GET /", host)), 200) << host;
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:80", "evil.example:8080",
                           "127.0.0.1:8080.evil.example", "127.0.0.1:8080, evil", "[::1]:8080"})
    EXPECT_EQ(status_of(request("GET /", host)), 403) << host;
  EXPECT_EQ(status_of(request("GET /") + "Host: 127.0.0.1:8080\r\n"), 403);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\n"), 403);
}

TEST(PageResult, KnowsNonsense) {
  for (const char* text : {"", "\r\n", "GET", "GET /", "GET / HTTP/2", "GET / HTTP/1.1 x",
                           "GET  / HTTP/1.1", "\x16\x03\x01"})
    EXPECT_EQ(status_of(text), 400) << text;
}

}  // namespace
}  // namespace isotact::tool

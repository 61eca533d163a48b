#include "page_server.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "isotact/base/error.h"

namespace isotact::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostRequestBytes = 16384;
constexpr auto kPatience = std::chrono::seconds(10);  // with one visitor
constexpr std::size_t kMostSilent = 16;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail(const char* what) {
  throw Error(fmt::format("{}: {}", what, std::strerror(errno)));
}

int stop_writer = -1;  // of the one StopSignals there is, for a handler

// While it lives, SIGINT and SIGTERM write into a pipe instead of ending the program. A handler,
// since threads that loops left behind may get the signal as well as this one.
class StopSignals {
 public:
  StopSignals() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) fail("signals cannot be waited for");
    reader_ = ends[0];
    stop_writer = ends[1];
    struct sigaction action {};
    action.sa_handler = [](int) {
      const int saved = errno;
      const char byte = 0;
      [[maybe_unused]] const ssize_t written = write(stop_writer, &byte, 1);
      errno = saved;
    };
    sigaction(SIGINT, &action, &before_interrupt_);
    sigaction(SIGTERM, &action, &before_terminate_);
  }
  ~StopSignals() {
    sigaction(SIGINT, &before_interrupt_, nullptr);
    sigaction(SIGTERM, &before_terminate_, nullptr);
    close(reader_);
    close(stop_writer);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int descriptor() const { return reader_; }  // can be read once there was one

 private:
  int reader_ = -1;
  struct sigaction before_interrupt_ {};
  struct sigaction before_terminate_ {};
};

Descriptor listen_on_loopback(int port) {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.number() < 0) fail("no socket can be opened");
  const int yes = 1;
  setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw Error(fmt::format("port {} of 127.0.0.1 cannot be had: {}; choose another with --port",
                            port, std::strerror(errno)));
  if (listen(listener.number(), 16) != 0) fail("the socket cannot listen");
  return listener;
}

int port_of(const Descriptor& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(listener.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    fail("the socket has no name");
  return ntohs(address.sin_port);
}

// One visitor: at most kPatience, and no longer than until somebody wants to stop.
class Visit {
 public:
  Visit(const Descriptor& visitor, const StopSignals& stop)
      : visitor_(visitor.number()), stop_(stop.descriptor()), end_(Clock::now() + kPatience) {}

  // Empty where the visitor left, or was too slow or too long.
  std::string read_request() {
    std::string request;
    while (request.find("\r\n\r\n") == std::string::npos) {
      char piece[4096];
      if (request.size() > kMostRequestBytes || !wait(POLLIN)) return {};
      const ssize_t count = recv(visitor_, piece, sizeof piece, 0);
      if (count <= 0) return {};
      request.append(piece, static_cast<std::size_t>(count));
    }
    return request.substr(0, request.find("\r\n\r\n") + 2);
  }

  bool send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!wait(POLLOUT)) return false;
      const ssize_t count = send(visitor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
      end_ = Clock::now() + kPatience;  // it goes on
    }
    return true;
  }

 private:
  bool wait(short what) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now());
    if (left.count() <= 0) return false;
    pollfd all[2] = {{visitor_, what, 0}, {stop_, POLLIN, 0}};
    const int ready = poll(all, 2, static_cast<int>(left.count()));
    if (ready < 0) return errno == EINTR && wait(what);
    return ready > 0 && all[1].revents == 0;
  }

  int visitor_, stop_;
  Clock::time_point end_;
};

void answer(const Descriptor& visitor, const StopSignals& stop, const std::string& page, int port) {
  Visit visit(visitor, stop);
  const std::string request = visit.read_request();
  if (request.empty()) return;
  const PageResult answer = answer_page_request(request, port, page.size());
  if (visit.send_all(answer.header) && answer.with_page) visit.send_all(page);
  shutdown(visitor.number(), SHUT_WR);
}

}  // namespace

void serve_page(const std::string& page, int port, const std::function<void(int port)>& ready) {
  const StopSignals stop;
  const Descriptor listener = listen_on_loopback(port);
  const int own_port = port_of(listener);
  ready(own_port);
  // Browsers open connections to have them at hand, and say nothing: those wait here.
  std::list<Descriptor> silent;
  while (true) {
    std::vector<pollfd> all{{listener.number(), POLLIN, 0}, {stop.descriptor(), POLLIN, 0}};
    for (const Descriptor& visitor : silent) all.push_back({visitor.number(), POLLIN, 0});
    if (poll(all.data(), all.size(), -1) < 0) {
      if (errno != EINTR) fail("waiting failed");
      continue;
    }
    if (all[1].revents != 0) return;
    auto visitor = silent.begin();
    for (std::size_t k = 2; k < all.size(); ++k) {
      if (all[k].revents != 0) answer(*visitor, stop, page, own_port);
      visitor = all[k].revents != 0 ? silent.erase(visitor) : std::next(visitor);
    }
    if (all[0].revents == 0) continue;
    const int number = accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC);
    if (number < 0) continue;
    if (silent.size() >= kMostSilent) silent.pop_front();
    silent.emplace_back(number);
  }
}

}  // namespace isotact::tool

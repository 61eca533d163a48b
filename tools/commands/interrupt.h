// Ctrl-C in the middle of long work: the work ends at its next whole step, and what there is is
// written.
#pragma once

#include <csignal>
#include <exception>

namespace isotact::tool {

// While it lives, the first SIGINT or SIGTERM is remembered. A second one ends the program at once.
class Interrupt {
 public:
  Interrupt() {
    asked_flag() = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { asked_flag() = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_interrupt_);
    sigaction(SIGTERM, &action, &before_end_);
  }
  ~Interrupt() {
    sigaction(SIGINT, &before_interrupt_, nullptr);
    sigaction(SIGTERM, &before_end_, nullptr);
  }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool is_asked() const { return asked_flag() != 0; }

 private:
  static volatile std::sig_atomic_t& asked_flag() {
    static volatile std::sig_atomic_t flag = 0;
    return flag;
  }

  struct sigaction before_interrupt_ {}, before_end_{};
};

// Ends the verb with exit code 130, as a shell reports Ctrl-C.
class Interrupted : public std::exception {};

}  // namespace isotact::tool

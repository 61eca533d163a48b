// The isotact program: reads the command line and turns every failure into one line on stderr.
#include <cstdio>
#include <new>
#include <string>

#include <fmt/format.h>

#include "isotact/base/error.h"

#include "commands/command.h"
#include "commands/interrupt.h"
#include "report/hints.h"

namespace {

constexpr int kFailed = 1, kVerdictFailed = 3, kInterrupted = 130;

int fail(const std::string& message) {
  fmt::print(stderr, "isotact: error: {}\n", isotact::tool::in_words_of_tool(message));
  return kFailed;
}

int run(int argc, char** argv) {
  using namespace isotact::tool;
  CommandLine line;
  add_make(line);
  add_info(line);
  add_convert(line);
  add_build(line);
  add_edit(line);
  add_sample(line);
  add_segments(line);
  add_collide(line);
  add_distance(line);
  add_certify(line);
  add_simulate(line);
  add_slice(line);
  add_render(line);
  add_view(line);
  add_bench(line);
  add_demo(line);
  add_doctor(line);
  add_completion(line);
  int exit_code = kFailed;
  try {
    exit_code = line.run(argc, argv);
  } catch (const AlreadyReported&) {
  } catch (const VerdictFailed&) {
    exit_code = kVerdictFailed;
  } catch (const Interrupted&) {
    exit_code = kInterrupted;
  } catch (const isotact::Error& error) {
    return fail(error.what());  // while the verb is there, whose options the hints name
  }
  // A full disk or a closed pipe shows only when the output is flushed.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return fail("cannot write to stdout");
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const isotact::Error& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

// Common parts of the chapters of `isotact demo`, and the chapters.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "build_facts.h"
#include "commands/command.h"

namespace isotact::tool {

// Under sanitizers, ten times slower, the tour has shorter ways.
inline constexpr bool kShortTour = *kSanitizers != 0;

// Lines for people, facts for scripts.
class Story {
 public:
  Story(std::filesystem::path to, const CommonOptions& options) : folder(std::move(to)) {
    threads = options.thread_setting();
    quiet_ = options.json;
  }
  // Lines are numbered.
  void tell(const std::string& line) {
    if (!quiet_) fmt::print("{}. {}\n", ++number_, line);
    std::fflush(stdout);
  }

  std::filesystem::path folder;
  Threads threads;
  Json facts;

 private:
  bool quiet_ = false;
  int number_ = 0;
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Shapes, fields and pictures of them (demo_parts.cpp).
void write_and_read_shapes(Story& story);
void tell_inside_from_outside(Story& story);
void find_closest_points_of_parts(Story& story);
void build_and_ask_field(Story& story);
void draw_shapes(Story& story);

// A gear that flies through a bowl between two steps (demo_contact.cpp).
void find_continuous_contact(Story& story);

// The nut on its bolt, the pile and the jelly (demo_run.cpp). Returns the file to open: a page, or
// a replay if pages are not built in.
struct DemoReplay {
  std::filesystem::path file{};
  bool is_page = true;
  bool is_in_trouble = false;  // The run stopped early.
};
DemoReplay run_demo_scene(Story& story);

// scenes/demo.json.
std::string_view demo_scene_text();

}  // namespace isotact::tool

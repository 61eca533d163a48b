#include "isotact/gpu/core/context.h"

#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "isotact/base/error.h"

#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

class Environment {
 public:
  explicit Environment(const char* value) {
    const char* old = std::getenv("ISOTACT_GPU");
    if (old != nullptr) old_ = old, had_ = true;
    setenv("ISOTACT_GPU", value, 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { had_ ? setenv("ISOTACT_GPU", old_.c_str(), 1) : unsetenv("ISOTACT_GPU"); }

 private:
  std::string old_;
  bool had_ = false;
};

using GpuContextTest = GpuTest;

TEST_F(GpuContextTest, SaysWhatItIs) {
  const GpuInfo& info = gpu().info();
  EXPECT_FALSE(info.renderer.empty());
  EXPECT_GE(info.max_texture_3d, 256);
  EXPECT_GE(info.max_storage_bytes, std::int64_t{1} << 24);
  EXPECT_GE(info.max_group_size, 128);
  EXPECT_NE(describe(info).find(info.renderer), std::string::npos);
}

TEST_F(GpuContextTest, CanBeTheCallers) {
  const GpuContext adopted = GpuContext::adopt_current();
  EXPECT_EQ(adopted.info().renderer, gpu().info().renderer);
  gpu().release();
  EXPECT_THROW((void)GpuContext::adopt_current(), Error);
}

TEST_F(GpuContextTest, IsCurrentOnOneThreadAtATime) {
  std::string message;
  const auto take = [&] {
    try {
      gpu().make_current();
      gpu().release();
      message = "taken";
    } catch (const Error& e) {
      message = e.what();
    }
  };
  std::thread(take).join();
  EXPECT_NE(message.find("another thread"), std::string::npos) << message;
  gpu().release();
  std::thread(take).join();
  EXPECT_EQ(message, "taken");
}

TEST(GpuMissing, IsAStatusWithAReason) {
  const Environment none("none");
  std::string why;
  EXPECT_FALSE(GpuContext::try_create(&why));
  EXPECT_NE(why.find("ISOTACT_GPU=none"), std::string::npos) << why;
  EXPECT_THROW((void)GpuContext::create(), Error);
}

TEST(GpuMissing, WrongWordsAreNamed) {
  const Environment wrong("quantum");
  std::string why;
  EXPECT_FALSE(GpuContext::try_create(&why));
  EXPECT_NE(why.find("quantum"), std::string::npos) << why;
}

}  // namespace
}  // namespace isotact

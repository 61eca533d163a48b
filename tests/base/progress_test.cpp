#include "isotact/base/progress.h"

#include <gtest/gtest.h>

#include "isotact/base/error.h"

namespace isotact {
namespace {

TEST(Progress, LineShowsShareRateAndTimeLeft) {
  EXPECT_EQ(format_progress({.task = "reading", .done = 500, .total = 1000}, 2.0),
            "reading [============>           ]  50% 250.0/s 2 s left");
  EXPECT_EQ(format_progress({.task = "reading", .done = 1000, .total = 1000}, 2.0),
            "reading [========================] 100% 500.0/s");
  EXPECT_EQ(format_progress({.task = "x", .done = 2'000'000, .total = 0}, 1.0), "x 2000000 2.0M/s");
}

TEST(Progress, CountsBeyondTheTotalDoNotOverflowTheBar) {
  EXPECT_EQ(format_progress({.task = "x", .done = 30, .total = 10}, 1.0),
            "x [========================] 100% 30.0/s");
}

TEST(Progress, BarIsSilentWhereStderrIsNoTerminal) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar;
    const Monitor monitor = bar.monitor();
    EXPECT_FALSE(monitor.on_progress);
    bar.update({.task = "x", .done = 1, .total = 2});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, BarDrawsAndWipesItsLine) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar(ProgressBar::When::kAlways);
    bar.monitor().report({.task = "x", .done = 1, .total = 2});
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.rfind("\rx [", 0), 0U) << text;
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

TEST(Progress, CheckThrowsOnceCancelled) {
  CancelToken token;
  const Monitor monitor{.cancel = &token};
  EXPECT_NO_THROW(monitor.check());
  token.cancel();
  EXPECT_THROW(monitor.check(), Cancelled);
}

}  // namespace
}  // namespace isotact

// One version: the numbers, the string and CMake's must agree.
#include "isotact/version.h"

#include <string>

#include <gtest/gtest.h>

namespace isotact {
namespace {

TEST(Version, IsTheSameEverywhere) {
  const std::string numbers = std::to_string(kVersionMajor) + "." + std::to_string(kVersionMinor) +
                              "." + std::to_string(kVersionPatch);
  EXPECT_EQ(numbers, kVersionString);
  EXPECT_STREQ(kVersionString, ISOTACT_CMAKE_VERSION);
}

}  // namespace
}  // namespace isotact

#include <gtest/gtest.h>

#include "isotact/base/error.h"
#include "isotact/geometry/mesh/mesh.h"

namespace isotact {
namespace {

TEST(Units, KnowsFourAndRefusesOthers) {
  EXPECT_EQ(metres_per_unit("m"), 1);
  EXPECT_EQ(metres_per_unit("mm"), 0.001);
  EXPECT_EQ(metres_per_unit("in"), 0.0254);
  EXPECT_THROW(metres_per_unit("ft"), Error);
  EXPECT_THROW(metres_per_unit(""), Error);
}

TEST(Units, NamesSizesThatHintAtAForgottenUnit) {
  EXPECT_FALSE(find_implausible_size({{0, 0, 0}, {0.2F, 0.1F, 0.1F}}));
  const auto large = find_implausible_size({{0, 0, 0}, {200, 1, 1}});
  ASSERT_TRUE(large);
  EXPECT_EQ(split_hint(*large).hint, Hint::kUnit);
  EXPECT_NE(large->find("metres_per_unit"), std::string::npos);
  EXPECT_TRUE(find_implausible_size({{0, 0, 0}, {1e-4F, 0, 0}}));
  EXPECT_FALSE(find_implausible_size({}));
}

}  // namespace
}  // namespace isotact

// Tests that need a GPU, software Mesa where there is no other. One context for all of a program:
// making one takes a tenth of a second.
#pragma once

#include <gtest/gtest.h>

#include "isotact/gpu/core/context.h"

namespace isotact {

class GpuTest : public testing::Test {
 protected:
  static const GpuContext& gpu() {
    static const GpuContext context = GpuContext::create();
    return context;
  }
  void SetUp() override { gpu().make_current(); }
};

}  // namespace isotact

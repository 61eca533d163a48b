#include <cstdio>

#include <isotact/base/pose.h>
#include <isotact/version.h>

int main() {
  const isotact::Pose pose = isotact::parse_pose("xyz=1,2,3 wxyz=0,1,0,0");
  std::printf("%s %g\n", isotact::kVersionString, pose.translation.y);
}

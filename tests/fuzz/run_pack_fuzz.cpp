// Any bytes are a run that is read, or an Error; so is any text around them. What is read can be
// drawn: every frame has a pose for each body and vertices for each triangle. Gzip's check sum
// would keep a fuzzer from reaching the pack, so each input is taken for a pack and for a page.
#include <cstdint>
#include <span>
#include <string_view>

#include "isotact/base/error.h"
#include "isotact/scene/pack/replay_unpack.h"

#include "page/packed_page.h"
#include "require.h"

namespace isotact::fuzz {
namespace {

void check_pack(std::span<const std::byte> bytes) {
  const RunPack run(bytes, "fuzz.html");
  const Replay& replay = run.replay();
  require(!run.times().empty(), "there is no frame");
  for (const TriangleMesh& mesh : replay.meshes)
    require(!find_flaw(mesh), "a mesh that was checked is broken");
  for (const ReplayBody& body : replay.bodies)
    require(!body.mesh || *body.mesh < replay.meshes.size(), "a body has no mesh");
  const std::size_t count = run.times().size(), every = (count - 1) / 4 + 1;
  for (std::size_t k = 0; k < count; k += every) {
    const ReplayFrame frame = run.frame(k);
    require(frame.poses.size() == replay.bodies.size(), "a body has no pose");
    require(frame.soft.size() == replay.soft_bodies.size(), "a soft body has no vertices");
    for (const Pose& pose : frame.poses)
      require(is_finite(pose.translation) && length_sq(pose.rotation) > 0.99, "a pose is none");
    for (std::size_t s = 0; s < frame.soft.size(); ++s)
      for (const Triangle& t : replay.soft_bodies[s].triangles)
        for (const std::uint32_t v : t) require(v < frame.soft[s].size(), "a corner is nowhere");
  }
  require(run.nearest_frame(0.1) < count, "the nearest frame is none");
}

}  // namespace
}  // namespace isotact::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isotact;
  try {
    fuzz::check_pack(std::as_bytes(std::span(data, size)));
  } catch (const Error&) {
  }
  try {
    fuzz::check_pack(tool::find_run_pack({reinterpret_cast<const char*>(data), size}, "fuzz.html"));
  } catch (const Error&) {
  }
  return 0;
}

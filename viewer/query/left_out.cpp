// Parts of the library that a page's query does without, so that the module stays small: it builds
// nothing, and asks by points only. query.cpp does not lead here; should it, the page says so.
#include "isotact/base/error.h"
#include "isotact/field/build/asset_report.h"
#include "isotact/queries/detail/collide_methods.h"
#include "isotact/queries/detail/exact_body.h"
#include "isotact/queries/detail/exact_distance.h"
#include "isotact/queries/detail/exact_touch.h"
#include "isotact/queries/detail/shape_data.h"
#include "isotact/queries/segments/segment_index.h"

namespace isotact {

// Assets of pages have no mesh.
FlatMesh FlatMesh::from_buffer(std::span<const std::byte>, std::shared_ptr<const void>, Check) {
  throw Error("the query of a page asks by points: its assets have no mesh");
}

// The report of a build is JSON, which pages do without.
std::optional<AssetReport> parse_report(const Asset&) { return std::nullopt; }
std::optional<SignRule> parse_sign_rule(const Asset&) { return std::nullopt; }

// Of scratches of collide.
ContinuousScratch::ContinuousScratch() : state_(nullptr) {}
ContinuousScratch::ContinuousScratch(ContinuousScratch&&) noexcept : state_(nullptr) {}
ContinuousScratch& ContinuousScratch::operator=(ContinuousScratch&&) noexcept { return *this; }
ContinuousScratch::~ContinuousScratch() = default;

}  // namespace isotact

namespace isotact::detail {
namespace {

[[noreturn]] void refuse() {
  throw Error("the query of a page builds nothing, and asks by points");
}

}  // namespace

BrickField make_bricks(const ShapeParts&, const ShapeSettings&) { refuse(); }
FieldResult build_from_mesh(const Shape&, const ShapeSettings&) { refuse(); }
PointSphereTree make_points(const Shape&, const ShapeSettings&) { refuse(); }
bool can_be_exact(const Shape&) { return false; }
void prepare_sides(const Shape&) { refuse(); }
const ExactBody& exact_body(const Shape&) { refuse(); }
DistanceResult compute_exact_distance(const Shape&, const Pose&, const Shape&, const Pose&,
                                      const DistanceRequest&, std::shared_ptr<void>*) {
  refuse();
}
void settle_contacts(const Shape&, const Pose&, const Shape&, const Pose&, double,
                     std::vector<Contact>&, std::vector<std::uint32_t>&) {
  refuse();
}
Contact guess_contact(const Shape&, const Pose&, const Shape&, const Pose&, const Contact&) {
  refuse();
}
TouchBody::TouchBody(const Shape&) { refuse(); }
TouchCheck::TouchCheck(const TouchBody& a, const TouchBody& b, const Pose& a_from_b, double,
                       TouchScratch& memory)
    : a_(a), b_(b), a_from_b_(a_from_b), memory_(memory) {
  refuse();
}
std::optional<TouchKind> TouchCheck::at_once() { refuse(); }
bool TouchCheck::are_hulls_apart() { refuse(); }
TouchKind TouchCheck::by_triangles() { refuse(); }
Touch TouchCheck::describe() { refuse(); }
Touch find_touch(const TouchBody&, const TouchBody&, const Pose&, double, TouchScratch&) {
  refuse();
}
bool can_prove_crossing(const TouchBody&, const TouchBody&) { refuse(); }
bool proves_crossing(const TouchBody&, const Vec3&, const TouchBody&, const Pose&) { refuse(); }
Contact to_contact(const Touch&, const Pose&) { refuse(); }
void collide_by_intersection(const CollidePair&, const CollideRequest&, CollideScratch::State&) {
  refuse();
}
void collide_by_depth(const CollidePair&, const CollideRequest&, CollideScratch::State&) {
  refuse();
}
void collide_by_sweep(const CollidePair&, const CollideRequest&, CollideScratch::State&) {
  refuse();
}

}  // namespace isotact::detail

namespace isotact {

std::optional<SegmentIndex> find_segment_index(const Asset&, Check) { return std::nullopt; }

}  // namespace isotact

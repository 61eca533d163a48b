// Contacts of many pairs at once: particles in the common box of two bodies move to the surface of
// their intersection. KGM ("Intersection Distance Field Collision for GPU"), section 4. This is the
// CPU implementation; gpu/intersection/intersection_query.h returns the same contacts on a GPU.
//
//   const IdfShape shapes[] = {IdfShape{texels}, IdfShape{SphereField{}}};
//   const IdfBody bodies[] = {{0, world_from_gear}, {1, world_from_ball}};
//   const IdfPair pairs[] = {{0, 1}};
//   IdfResult result;
//   intersect_fields(shapes, bodies, pairs, {}, result, scratch);
//
// Differences from KGM's text:
//   * Algorithm 2 as printed stops if max(d_a, d_b) < margin. This holds for all points deep inside
//     both bodies, so they would stay there, on neither surface. The intended condition (equation
//     14, and "x will be on the surface of at least one") is |max(d_a, d_b)| < margin. A particle
//     that runs out of steps has still arrived if it was inside both bodies (or within margin) on
//     its path. It then counts at the last such position.
//   * Depth is positive if bodies overlap and negative across a gap: minus equation 15, corrected
//     by the remaining distance to the surface (up to margin).
//   * Equation 16 always takes the normal from B. If the particle lies on B's surface, inside A,
//     that is B's own normal there. On the side faces of a box that stands in the ground it points
//     sideways. We take the gradient of the field that the depth was measured in, oriented from B
//     to A. IdfNormal::kPaper is the printed rule.
//   * Boxes of bodies are grown by margin, since contacts lie up to that far outside.
//   * KGM gives neither margin nor a number of steps: ours are the defaults below.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "isotact/base/parallel.h"
#include "isotact/base/pose.h"
#include "isotact/export.h"
#include "isotact/field/models/analytic.h"
#include "isotact/field/models/brick_field.h"
#include "isotact/field/texels/field_texels.h"
#include "isotact/queries/contact/contact.h"

namespace ISOTACT_PUBLIC isotact {

// The shape of a body. Immutable; copies share it. Particles are distributed in the body's box. It
// need not be tight, but must contain the body.
class IdfShape {
 public:
  using Solid =
      std::variant<PlaneField, SphereField, BoxField, CapsuleField, CylinderField, TorusField,
                   std::shared_ptr<const FieldTexels>, std::shared_ptr<const BrickField>>;
  explicit IdfShape(const PlaneField& plane);
  explicit IdfShape(const SphereField& sphere);
  explicit IdfShape(const BoxField& box);
  explicit IdfShape(const CapsuleField& capsule);
  explicit IdfShape(const CylinderField& cylinder);
  explicit IdfShape(const TorusField& torus);
  explicit IdfShape(FieldTexels texels);
  // Memory does not limit the resolution. Slower: each value reads a brick's bytes one by one.
  IdfShape(const BrickField& field, const Aabb& body);
  explicit IdfShape(const BrickField& field);  // Finds the body's box, to within a brick.

  const Solid& solid() const { return solid_; }
  const Aabb& body() const { return body_; }  // A plane's box is infinite along some axes.
  // value(p) - value(q)| <= lipschitz |p - q|. Floors (compute_cell_cull, intersection_plan.h)
  // exceed the true distance by at most `error`, metres. Infinite: not known.
  double lipschitz() const { return lipschitz_; }
  double error() const { return error_; }
  double cell() const { return cell_; }  // Metres; 0 for formulas.

 private:
  Solid solid_;
  Aabb body_{};
  double lipschitz_ = 1, error_ = 0, cell_ = 0;
};

struct IdfBody {
  std::uint32_t shape = 0;
  Pose world_from_body{};
  double scale = 1;  // Scale of the shape about its origin (KGM, equation 4); positive.
};

struct IdfPair {
  std::uint32_t a = 0, b = 0;  // Bodies.

  friend bool operator==(const IdfPair&, const IdfPair&) = default;
};

enum class IdfSampling : std::uint8_t {
  kGrid,            // The centres of cells (KGM).
  kLowDiscrepancy,  // As many points of the R3 sequence: no aliasing with aligned features.
};

enum class IdfSearch : std::uint8_t {
  // KGM: every particle takes steps until it arrives or none are left. Each arrived particle is a
  // contact. Most find the same few positions from afar.
  kPaper,
  // Our method. Particles represent the cells of the sampling grid and search for contacts there:
  //   * Only those move whose cell may contain a contact. This is tested by bounds of the distances
  //     at its centre and at the centres of the blocks of cells that contain it (compute_cell_cull,
  //     intersection_plan.h).
  //   * Particles outside that get further from the centre than half of the cell's diagonal have
  //     left the cell and stop. Their contacts are found by other particles.
  //   * If a pair has no contact then, its cells that may still contain one are cut into eight,
  //     recursively, down to `resolution`.
  // Needs kGrid.
  kCells,
};

enum class IdfNormal : std::uint8_t { kDeeper, kPaper };

inline constexpr int kMostIdfSamples = 30;
inline constexpr int kMostIdfContacts = 64;

struct IdfSettings {
  int samples = 20;  // KGM's N: about N^3 particles per pair; 1 to kMostIdfSamples.
  // Metres: particles nearer than this to both are contacts. 0: a hundredth of the smaller body's
  // longest side.
  double margin = 0;
  int max_steps = 16;  // 1 to 1000.
  IdfSampling sampling = IdfSampling::kGrid;
  IdfSearch search = IdfSearch::kCells;
  IdfNormal normal = IdfNormal::kDeeper;
  // Factor on the length of steps, as in Keinert et al. for rays; 1 to 2. A step that overshoots
  // (the value grew) is reduced to plain length.
  double relaxation = 1;
  // For kCells, in metres. If a pair is found to be apart, no overlap that contains a ball of this
  // radius was missed. 0: half the diagonal of a cell of the sampling grid times the slope of the
  // fields, which costs nothing. Cells are halved up to 12 times, into at most 2^20 per pair:
  // IdfResult::resolution has the value that was reached.
  double resolution = 0;
  // The deepest of each pair, at most one in each of about 64 equal parts of its box. 0: all.
  std::uint32_t max_contacts = 0;
  // Only finds whether pairs collide: one arbitrary contact per pair. The CPU first searches a
  // coarse grid, which decides most colliding pairs; all others are searched as usual. A GPU
  // returns the deepest contact. Overrides max_contacts and one_per_voxel.
  bool any_contact = false;
  // One contact, the deepest, in each voxel of about samples^3 (KGM, section 7), if max_contacts is
  // 0.
  bool one_per_voxel = false;
  bool keep_seeds = false;  // Also start from the contacts of the last call (KGM, section 7).
  Threads threads{};
};

struct IdfResult {
  // Pair i has contacts[first_contact[i]] to contacts[first_contact[i + 1] - 1], deepest first.
  // Equal depths are sorted by the particle's number, which is in Contact::point.
  std::vector<Contact> contacts;
  std::vector<std::uint32_t> first_contact;  // One more than the number of pairs.
  std::vector<std::uint32_t> arrived;        // Per pair: number of particles in contact.
  // Per pair, in metres: a common part that contains a ball of this radius was not missed. 0 if it
  // is certain that no point is in contact. Infinite if nothing is known (kLowDiscrepancy).
  //
  // It is half the diagonal of the smallest cells, r, times the slope of the fields, for two
  // reasons. First, let all points of a ball of radius r about c have values of at most 0 in both
  // fields. The centre m of the cell that contains c is no further from c than r, so it is in the
  // ball. Second, let both values at c be at most -r slope, as at the centre of a ball of that
  // radius if values are distances. Then the values at m are at most 0. In both cases the particle
  // at m is in both bodies from the start, and counts as arrived for any further steps. (It is not
  // culled: its value is not above margin.) Cells that were culled before contain no contact.
  std::vector<float> resolution;
  std::uint64_t particles = 0;
  std::uint64_t evaluations = 0;  // Sum over both fields.
};

// Memory between calls: contacts as seeds, in the frame of body A.
class IdfScratch {
 public:
  struct Seeds {
    std::vector<Vec3f> in_a;
  };
  std::unordered_map<std::uint64_t, Seeds> seeds;  // Key: a << 32 | b.
};

// Returns the number of samples along each axis: KGM, Algorithm 1, for a box of any size. Their
// product is about n^3, and never above 2 n^3. Sides of zero length get one sample; a box of zero
// size has one.
std::array<std::int32_t, 3> distribute_samples(const Vec3& box_size, int n);

// Returns the same results for any number of threads. Throws Error for invalid settings, for shapes
// and bodies that do not exist, and for poses that are not finite.
void intersect_fields(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                      std::span<const IdfPair> pairs, const IdfSettings& settings,
                      IdfResult& result, IdfScratch& scratch);
// The same with plain loops, one cell and one particle after the other; slow. (The soundness of
// culling cells has its own test.)
void intersect_fields_brute_force(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                                  std::span<const IdfPair> pairs, const IdfSettings& settings,
                                  IdfResult& result, IdfScratch& scratch);

// A device that does it for collide(), such as a GPU. The CPU needs none.
class IntersectionBackend {
 public:
  virtual ~IntersectionBackend() = default;
  virtual void intersect(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                         std::span<const IdfPair> pairs, const IdfSettings& settings,
                         IdfResult& result, IdfScratch& scratch) = 0;
};

}  // namespace isotact

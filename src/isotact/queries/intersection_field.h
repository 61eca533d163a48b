// Contacts of many pairs at once: particles in the box that two bodies share are moved onto the
// surface of their intersection. KGM ("Intersection Distance Field Collision for GPU"), section 4.
// This is the CPU's side; gpu/intersection_query.h gives the same contacts on a GPU.
//
//   const IdfShape shapes[] = {IdfShape{texels}, IdfShape{SphereField{}}};
//   const IdfBody bodies[] = {{0, world_from_gear}, {1, world_from_ball}};
//   const IdfPair pairs[] = {{0, 1}};
//   IdfResult result;
//   intersect_fields(shapes, bodies, pairs, {}, state, result);
//
// Where KGM's text and we differ:
//   * Algorithm 2 as printed stops where max(d_a, d_b) < epsilon, which holds for all points deep
//     inside of both: they would stay where they are, on neither surface. What is meant (equation
//     14, and "x will be on the surface of at least one") is |max(d_a, d_b)| < epsilon; a particle
//     that runs out of steps has arrived all the same where it was inside of both on its way (or
//     within epsilon of it): in the last such place.
//   * Depth is positive where bodies overlap, negative across a gap: minus equation 15, with what
//   is
//     left of the way to the surface (up to epsilon) taken into account.
//   * Equation 16 takes the normal from B always. Where the particle lies on B's surface, inside of
//     A, that is B's own normal there: on the side faces of a box that stands in the ground it
//     points sideways. We take the gradient of the field that the depth was measured in, turned so
//     that it goes from B to A; IdfNormal::kPaper is the printed rule.
//   * Boxes of bodies are grown by epsilon, since contacts lie up to that far outside.
//   * KGM gives neither epsilon nor a number of steps: ours are the defaults below.
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
#include "isotact/field/analytic.h"
#include "isotact/field/brick_field.h"
#include "isotact/field/field_texels.h"
#include "isotact/queries/contact.h"

namespace isotact {

// What a body is made of. Immutable; copies share it. The body's box is what particles are spread
// in; it need not be tight, but must hold the body.
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
  // Memory does not cap the resolution. Slower: each value reads a brick's bytes one by one.
  IdfShape(const BrickField& field, const Aabb& body);
  explicit IdfShape(const BrickField& field);  // finds the body's box, to within a brick

  const Solid& solid() const { return solid_; }
  const Aabb& body() const { return body_; }  // a plane's is infinite where it has to be
  // |value(p) - value(q)| <= lipschitz |p - q|. Floors (find_cell_cull, intersection_plan.h) are
  // above the true distance by no more than `error`, metres; infinite: not known.
  double lipschitz() const { return lipschitz_; }
  double error() const { return error_; }
  double cell() const { return cell_; }  // metres; 0 for formulas

 private:
  Solid solid_;
  Aabb body_{};
  double lipschitz_ = 1, error_ = 0, cell_ = 0;
};

struct IdfBody {
  std::uint32_t shape = 0;
  Pose world_from_body{};
  double scale = 1;  // of the shape, about its origin (KGM, equation 4); positive
};

struct IdfPair {
  std::uint32_t a = 0, b = 0;  // bodies

  friend bool operator==(const IdfPair&, const IdfPair&) = default;
};

enum class IdfSampling : std::uint8_t {
  kGrid,            // the middles of cells (KGM)
  kLowDiscrepancy,  // points of the R3 sequence, as many: no aliasing with what is aligned
};

enum class IdfSearch : std::uint8_t {
  // KGM: every particle takes steps until it arrives or none are left. Each that arrives is a
  // contact; most find the same few places from afar.
  kPaper,
  // Ours. Particles stand for the cells of the sampling grid, and look for what is in contact
  // there:
  //   * only those move whose cell may hold a contact, by bounds of the distances in its middle,
  //   and
  //     in the middles of the blocks of cells that it is in (find_cell_cull, intersection_plan.h);
  //   * those outside that get further from the middle than half of the cell's diagonal have left
  //     it and stop: what they would find is for others to find;
  //   * cells of pairs that have no contact then, but have cells left that may hold one, are cut
  //     into eight, and so on, down to `resolution`.
  // Needs kGrid.
  kCells,
};

enum class IdfNormal : std::uint8_t { kDeeper, kPaper };

inline constexpr int kMostIdfSamples = 30;
inline constexpr int kMostIdfContacts = 64;

struct IdfSettings {
  int samples = 20;    // KGM's N: about N^3 particles a pair; 1 to kMostIdfSamples
  double epsilon = 0;  // metres: nearer to both than this is contact; 0: a hundredth of the
                       // smaller body's longest side
  int max_steps = 16;  // 1 to 1000
  IdfSampling sampling = IdfSampling::kGrid;
  IdfSearch search = IdfSearch::kCells;
  IdfNormal normal = IdfNormal::kDeeper;
  // Steps this many times as long, as Keinert et al. do for rays; 1 to 2. A step that overshoots
  // (the value grew) is taken back to plain length.
  double relaxation = 1;
  // kCells: of pairs that are found to be apart: no overlap that holds a ball of this radius, in
  // metres, was missed. 0: half the diagonal
  // of a cell of the sampling grid times the slope of the fields, which costs nothing. Cells are
  // halved up to 12 times, and not into more than 2^20 a pair: IdfResult::resolution says what was
  // reached.
  double resolution = 0;
  // The deepest of each pair, at most one in each of some 64 equal parts of its box. 0: all.
  std::uint32_t max_contacts = 0;
  // Only whether pairs collide: one contact a pair, whichever. The CPU's side searches a coarse
  // grid first, which decides for most pairs that do; all others are searched as ever. A GPU gives
  // the deepest one. Puts max_contacts and one_per_voxel aside.
  bool any_contact = false;
  // One contact in each voxel of about samples^3, the deepest (KGM, section 7), where max_contacts
  // is 0.
  bool one_per_voxel = false;
  bool keep_seeds = false;  // start from the last call's contacts as well (KGM, section 7)
  Threads threads{};
};

struct IdfResult {
  // Those of pair i are contacts[first_contact[i]] to contacts[first_contact[i + 1] - 1], the
  // deepest first; of equals, by the particle's number, which is in Contact::point.
  std::vector<Contact> contacts;
  std::vector<std::uint32_t> first_contact;  // one more than there are pairs
  std::vector<std::uint32_t> arrived;        // a pair: how many particles are in contact
  // A pair, metres: a common part that holds a ball of this radius was not missed. 0 where it is
  // sure that no point is in contact. Infinite where nothing is known (kLowDiscrepancy).
  //
  // It is half the diagonal of the smallest cells, r, times the slope of the fields, for two
  // reasons. Let all points of a ball of radius r about c have values of at most 0 in both fields.
  // The middle m of the cell that holds c is no further from c than r: it is in the ball. And let
  // both values in c be at most -r slope, as they are in the middle of a ball of that radius where
  // values are distances: those in m are at most 0. Either way the particle in m is in both bodies
  // from the start, and counts as arrived wherever its steps lead (it is not culled: its value is
  // not above epsilon). Cells that were culled before hold no point of contact.
  std::vector<float> resolution;
  std::uint64_t particles = 0;
  std::uint64_t evaluations = 0;  // of both fields together
};

// What is kept between calls: contacts as seeds, in the frame of body A, and memory.
class IdfState {
 public:
  struct Seeds {
    std::vector<Vec3f> in_a;
  };
  std::unordered_map<std::uint64_t, Seeds> seeds;  // key: a << 32 | b
};

// How many samples along each axis: KGM, Algorithm 1, for a box of any size. Their product is about
// n^3, and never above 2 n^3. Sides that are zero get one sample; a box of no size at all has one.
std::array<std::int32_t, 3> distribute_samples(const Vec3& box_size, int n);

// The same results for any number of threads. Throws Error for settings without sense, for shapes
// and bodies that do not exist, and for poses that are not finite.
void intersect_fields(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                      std::span<const IdfPair> pairs, const IdfSettings& settings, IdfState& state,
                      IdfResult& result);
// The same by plain loops, one cell and one particle after the other; slow. (That what cells are
// left out by is sound is tested by itself.)
void intersect_fields_brute_force(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                                  std::span<const IdfPair> pairs, const IdfSettings& settings,
                                  IdfState& state, IdfResult& result);

}  // namespace isotact

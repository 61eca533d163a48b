#include "isotact/field/build/edit_field.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/base/hash.h"
#include "isotact/field/build/detail/edit_bricks.h"
#include "isotact/field/build/detail/plan.h"

namespace isotact {
namespace {

TriangleMesh replace(const TriangleMesh& mesh, std::span<const std::uint32_t> removed,
                     const TriangleMesh& added) {
  if (const auto flaw = find_flaw(added)) throw Error("the triangles to add: " + *flaw);
  std::vector<std::uint8_t> gone(mesh.triangles.size(), 0);
  for (const std::uint32_t t : removed) {
    if (t >= gone.size())
      throw Error(fmt::format("triangle {} is to be removed, but the mesh has {}", t, gone.size()));
    gone[t] = 1;
  }
  // Positions that no triangle uses any more stay, until so many have gathered that they matter.
  TriangleMesh after{.positions = mesh.positions, .triangles = {}};
  after.triangles.reserve(mesh.triangles.size() + added.triangles.size());
  for (std::size_t t = 0; t < gone.size(); ++t)
    if (gone[t] == 0) after.triangles.push_back(mesh.triangles[t]);
  const auto first = static_cast<std::uint32_t>(after.positions.size());
  after.positions.insert(after.positions.end(), added.positions.begin(), added.positions.end());
  for (const Triangle& t : added.triangles)
    after.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  return after;
}

// Used positions only, in their order.
TriangleMesh drop_unused(TriangleMesh mesh) {
  std::vector<std::uint32_t> name(mesh.positions.size(), 0);
  for (const Triangle& t : mesh.triangles)
    for (const std::uint32_t v : t) name[v] = 1;
  std::uint32_t used = 0;
  for (std::size_t v = 0; v < name.size(); ++v) {
    if (name[v] == 0) continue;
    mesh.positions[used] = mesh.positions[v];
    name[v] = used++;
  }
  mesh.positions.resize(used);
  for (Triangle& t : mesh.triangles)
    for (std::uint32_t& v : t) v = name[v];
  return mesh;
}

}  // namespace

struct EditableField::State {
  FieldSettings settings{};
  Lattice lattice{};
  TriangleMesh mesh{};
  Surface surface{};
  FieldResult built{};
  std::unique_ptr<detail::EditTriangles> triangles{};
  detail::EditMarks marks{};

  Surface prepare(const TriangleMesh& from) const {
    return prepare_surface(from, {.sign = settings.sign,
                                  .nested = settings.nested,
                                  .voxel_size = lattice.spacing,
                                  .shell_offset = settings.shell_offset,
                                  .threads = settings.threads,
                                  .monitor = settings.monitor});
  }

  // The band's reach and the shell must fit between the surface and the box, see build_field.h.
  void check_room(const TriangleMesh& added, double shell_offset) const {
    if (added.triangles.empty()) return;
    const Aabb box = bounds(lattice), inner = to_double(bounds(added));
    const double room = (settings.band + 2) * lattice.spacing * (1 - 1e-6) + shell_offset;
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (!(inner.lower[axis] - box.lower[axis] >= room &&
            box.upper[axis] - inner.upper[axis] >= room))
        throw Error(fmt::format(
            "the edit reaches {:.4g} to {:.4g} along {}, too near to the sides of the "
            "field's box at {:.4g} and {:.4g}: build a field with more padding",
            inner.lower[axis], inner.upper[axis], "xyz"[axis], box.lower[axis], box.upper[axis]));
  }

  void build_all() {
    built = build_field(surface, lattice, settings);
    triangles = std::make_unique<detail::EditTriangles>(surface.mesh, lattice, settings.threads);
    const Lattice coarse = built.field.coarse_lattice();
    marks.band = detail::CellBits(coarse.cells);
    detail::mark_near(
        surface.mesh, lattice,
        settings.band + detail::kCellDiagonal + surface.report.shell_offset / lattice.spacing,
        settings.threads, marks.band);
    marks.creased = detail::CellBits(coarse.cells);
    if (settings.tolerance < 1)
      detail::mark_creases(built.field.coarse_values(), coarse, settings.tolerance,
                           settings.threads, marks.creased);
    marks.rows.reset();
    if (surface.report.method != SignMethod::kUnsigned)
      marks.rows.emplace(surface, lattice, settings.threads, Monitor{});
  }

  // Beside what there is, which stays where the build throws.
  EditReport rebuild_all(Surface after, std::string reason) {
    State next{.settings = settings, .lattice = lattice, .surface = std::move(after)};
    next.build_all();
    surface = std::move(next.surface);
    built = std::move(next.built);
    triangles = std::move(next.triangles);
    marks = std::move(next.marks);
    const std::size_t bricks = built.report.bricks;
    return {.full_rebuild = true,
            .reason = std::move(reason),
            .coarse_nodes_built = built.field.coarse_values().size(),
            .bricks = bricks,
            .bricks_built = bricks,
            .bricks_bound = bricks};
  }

  EditReport change_to(TriangleMesh after, const TriangleMesh& added);

  EditReport apply(Surface after) {
    const SignReport &was = surface.report, &is = after.report;
    if (was.method != is.method || was.shell_offset != is.shell_offset) {
      std::string reason = "the sign is found by another rule now: " + is.reason;
      return rebuild_all(std::move(after), std::move(reason));
    }
    const detail::SurfaceChange change = detail::compute_change(surface.mesh, after.mesh);
    EditReport report{.removed_triangles = change.removed.size(),
                      .added_triangles = change.added_mesh.triangles.size()};
    for (const TriangleMesh* part : {&change.removed_mesh, &change.added_mesh})
      if (!part->positions.empty()) extend(report.changed, to_double(bounds(*part)));
    check_room(change.added_mesh, is.shell_offset);
    if (2 * (report.removed_triangles + report.added_triangles) > after.mesh.triangles.size() + 256)
      return rebuild_all(std::move(after), "most of the surface changed");
    triangles->apply(after.mesh, change);
    if (marks.rows) marks.rows->replace(change.removed_mesh, change.added_mesh, lattice);
    built.field = detail::rebuild_changed({.before = built.field,
                                           .settings = settings,
                                           .shell_offset = is.shell_offset,
                                           .change = change,
                                           .triangles = *triangles,
                                           .marks = marks},
                                          report);
    surface = std::move(after);
    if (triangles->is_worn())
      triangles = std::make_unique<detail::EditTriangles>(surface.mesh, lattice, settings.threads);
    return report;
  }
};

// From mesh to `after`, whose triangles of `added` may be new.
EditReport EditableField::State::change_to(TriangleMesh after, const TriangleMesh& added) {
  Surface next = prepare(after);
  check_room(added, next.report.shell_offset);
  const std::uint64_t header_before =
      hash_bytes(built.field.buffer().first(sizeof(BrickFieldHeader)));
  EditReport report = apply(std::move(next));
  mesh = std::move(after);
  report.sign = surface.report;
  report.header_before = header_before;
  return report;
}

EditableField::EditableField(TriangleMesh mesh, const FieldSettings& settings)
    : state_(std::make_unique<State>()) {
  if (settings.keep_thin == KeepThin::kRefine || settings.keep_thin == KeepThin::kOffset)
    throw Error("thin walls cannot be kept where a field is edited locally: choose voxels that do");
  if (settings.range > 0)
    throw Error(
        "a range is proved for the whole surface, so fields that are edited cannot have one");
  state_->settings = settings;
  state_->settings.keep_thin = KeepThin::kIgnore;
  state_->lattice = detail::make_lattice(to_double(bounds(mesh)), settings);
  state_->mesh = std::move(mesh);
  state_->surface = state_->prepare(state_->mesh);
  state_->lattice = detail::make_room(state_->lattice, to_double(bounds(state_->mesh)),
                                      state_->surface, settings);
  state_->build_all();
}

EditableField::EditableField(EditableField&&) noexcept = default;
EditableField& EditableField::operator=(EditableField&&) noexcept = default;
EditableField::~EditableField() = default;

const BrickField& EditableField::field() const { return state_->built.field; }
const TriangleMesh& EditableField::mesh() const { return state_->mesh; }
const FieldReport& EditableField::report() const { return state_->built.report; }

EditReport EditableField::replace_triangles(std::span<const std::uint32_t> removed,
                                            const TriangleMesh& added) {
  const auto begin = std::chrono::steady_clock::now();
  TriangleMesh after = replace(state_->mesh, removed, added);
  if (after.positions.size() > 4 * after.triangles.size() + 1024)
    after = drop_unused(std::move(after));
  EditReport report = state_->change_to(std::move(after), added);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

EditReport EditableField::replace_triangles(const Aabb& box, const TriangleMesh& added) {
  return replace_triangles(find_triangles_inside(state_->mesh, box), added);
}

EditReport EditableField::replace_mesh(const TriangleMesh& next) {
  const auto begin = std::chrono::steady_clock::now();
  if (const auto flaw = find_flaw(next)) throw Error("the new mesh: " + *flaw);
  EditReport report = state_->change_to(next, next);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

std::vector<std::uint32_t> find_triangles_inside(const TriangleMesh& mesh, const Aabb& box) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto c = corners(mesh, t);
    if (contains(box, to_double(c[0])) && contains(box, to_double(c[1])) &&
        contains(box, to_double(c[2])))
      found.push_back(t);
  }
  return found;
}

}  // namespace isotact

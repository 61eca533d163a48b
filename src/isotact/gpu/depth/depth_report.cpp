#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/gpu/depth/detail/depth_state.h"

namespace isotact {
namespace {

// A picture's pixel and a depth (a fraction of the box's) in it.
struct PicturePlace {
  const DepthView& view;
  const DepthSettings& settings;
  Pose world_from_view;

  Vec3 in_view(std::uint32_t pixel, double z) const {
    const auto width = static_cast<std::uint32_t>(settings.width);
    const double column = pixel % width, row = pixel / width;
    const Vec3& half = view.half_size;
    return {((2 * column + 1) / settings.width - 1) * half.x,
            ((2 * row + 1) / settings.height - 1) * half.y, (2 * z - 1) * half.z};
  }
};

Contact make_contact(const PicturePlace& place, const detail::DepthResultContact& c,
                     std::uint32_t id) {
  const double metres = 2 * place.view.half_size.z;
  const Vec3 on_a = place.in_view(c.pixel, double{c.z}) + Vec3{0, 0, double{c.reach} * metres};
  Contact contact;
  contact.point_on_a = transform_point(place.world_from_view, on_a);
  contact.normal = normalized(transform_vector(
      place.world_from_view, {double{c.normal[0]}, double{c.normal[1]}, double{c.normal[2]}}));
  contact.depth = double{c.depth} * metres;
  contact.point_on_b = contact.point_on_a + contact.normal * contact.depth;
  contact.position = (contact.point_on_a + contact.point_on_b) * 0.5;
  contact.sampled_by = Body::kB;
  contact.point = id;
  return contact;
}

}  // namespace

void make_depth_report(const detail::Flight& flight, std::size_t query,
                       const DepthSettings& settings, DepthResult& report) {
  const std::span<const std::uint32_t> words =
      flight.down.view<std::uint32_t>(flight.stride, query * flight.stride * 4);
  detail::DepthResultHead head;
  std::memcpy(&head, words.data(), sizeof head);
  if (head.lost > 0)
    throw Error(
        fmt::format("the map of slot {} had no memory for {} surfaces of its object: draw it with "
                    "MapUpdate::kWait, or raise GpuDepthSettings::surfaces",
                    head.slot, head.lost));
  const PicturePlace place{
      flight.views[query], settings,
      flight.queries[query].world_from_object * flight.views[query].object_from_view};
  report.pixels = head.pixels;
  report.inside = head.inside != 0;
  report.colliding = report.pixels > 0 || report.inside;
  for (std::size_t i = 0; i < 2; ++i) {
    report.first_pixel[i] = head.pixels > 0 ? head.first_pixel[i] : 0;
    report.last_pixel[i] = head.last_pixel[i];
  }
  report.depth = double{head.depth} * 2 * place.view.half_size.z;
  report.deepest = {};
  report.deepest_id = 0;
  report.ids.clear();
  report.contacts.clear();
  if (!report.colliding) return;
  report.deepest = transform_point(place.world_from_view,
                                   place.in_view(head.deepest_pixel, double{head.deepest_z}));
  const std::size_t bits =
      glsl::kHeadWords + std::size_t{glsl::kContactWords} * settings.max_contacts;
  for (std::uint32_t i = 0; i < flight.element_words; ++i)
    for (std::uint32_t word = words[bits + i]; word != 0; word &= word - 1)
      report.ids.push_back(flight.ids[32 * i + static_cast<std::uint32_t>(std::countr_zero(word))]);
  std::sort(report.ids.begin(), report.ids.end());
  report.ids.erase(std::unique(report.ids.begin(), report.ids.end()), report.ids.end());
  // Beyond all elements: the element is not known (depth_finish.comp, recover).
  report.deepest_id = head.deepest_element < flight.ids.size() ? flight.ids[head.deepest_element]
                      : report.ids.empty()                     ? 0
                                                               : report.ids.front();
  for (std::uint32_t i = 0; i < head.contacts; ++i) {
    detail::DepthResultContact c;
    std::memcpy(&c, &words[glsl::kHeadWords + std::size_t{glsl::kContactWords} * i], sizeof c);
    report.contacts.push_back(make_contact(place, c, flight.ids[c.element]));
  }
}

}  // namespace isotact

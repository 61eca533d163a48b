#include "isotact/scene/pack/pair_pack.h"

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/scene/pack/detail/pack_parts.inl"

namespace isotact {
namespace {

using detail::PackArrays;
using detail::PackJson;

// Neither is a colour that shows depth.
constexpr Colour kColourOfA{104, 150, 190}, kColourOfB{172, 166, 146};

PackJson pack_pair_body(const PairPackBody& body, std::size_t shape, const Colour& colour) {
  return {{"name", body.name}, {"kind", name(BodyKind::kDynamic)}, {"shape", shape},
          {"endless", false},  {"colour", detail::to_hex(colour)}, {"center", {0, 0, 0}},
          {"mass", nullptr}};
}

// Returns both bodies with their poses, one frame per time.
Replay replay_of(const PairPackSource& source) {
  Replay replay;
  replay.bodies.resize(2);
  for (std::size_t k = 0; k < source.times.size(); ++k)
    replay.frames.push_back(
        {.time = source.times[k], .poses = {source.a.poses[k], source.b.poses[k]}});
  return replay;
}

// Returns x y z, then w x y z, of A and B for each time.
std::vector<double> exact_poses(const PairPackSource& source) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < source.times.size(); ++k)
    for (const PairPackBody* body : {&source.a, &source.b}) {
      const auto& [q, t] = body->poses[k];
      numbers.insert(numbers.end(), {t.x, t.y, t.z, q.w, q.x, q.y, q.z});
    }
  return numbers;
}

std::vector<float> path_rows(const std::vector<ContactPath>& paths) {
  std::vector<float> rows;
  for (const ContactPath& p : paths) {
    const Vec3f from = to_float(p.from), to = to_float(p.to);
    rows.insert(rows.end(), {from.x, from.y, from.z, to.x, to.y, to.z, p.enter, p.exit});
  }
  return rows;
}

// The order is that of query_collide (viewer/query/query.cpp).
std::vector<double> request_numbers(const CollideRequest& r) {
  return {r.margin,
          static_cast<double>(r.roles),
          static_cast<double>(r.max_contacts),
          static_cast<double>(r.patches),
          static_cast<double>(r.level),
          static_cast<double>(r.max_nodes),
          r.force.stiffness};
}

PackJson pack_query(const PairPackQuery& query, PackArrays& arrays) {
  return {{"module", arrays.add(query.module)},
          {"assets", {arrays.add(query.asset_a), arrays.add(query.asset_b)}},
          {"request", arrays.add(request_numbers(query.request))}};
}

PackJson parse_report(const std::string& text) {
  PackJson report = PackJson::parse(text, nullptr, false);
  if (!report.is_object()) throw Error("the report of a pair must be a JSON object");
  return report;
}

}  // namespace

std::vector<std::byte> write_pair_pack(const PairPackSource& source,
                                       const RunPackSettings& settings) {
  PackArrays arrays(settings.most_bytes, Hint::kResolution);
  Scene scene;
  // View boxes enclose spheres, so they are generous.
  if (source.times.size() == 1) scene.view.zoom = 1.3;
  scene.name = fmt::format("{} and {}", source.a.name, source.b.name);
  PackJson json{{"version", 1}, {"scene", detail::pack_scene(scene)}};
  json["shapes"] = PackJson::array();
  for (const PairPackBody* body : {&source.a, &source.b})
    json["shapes"].push_back(detail::pack_shape(
        {.name = body->name, .mesh = body->surface, .shape = body->shape ? &*body->shape : nullptr},
        settings, arrays));
  json["bodies"] = {pack_pair_body(source.a, 0, kColourOfA),
                    pack_pair_body(source.b, 1, kColourOfB)};
  detail::pack_replay(replay_of(source), settings, arrays, json);
  json["pair"] = {{"report", parse_report(source.report)},
                  {"poses", arrays.add(exact_poses(source))},
                  {"paths", arrays.add(path_rows(source.paths))},
                  {"query", nullptr},
                  {"still", source.still}};
  if (source.query) json["pair"]["query"] = pack_query(*source.query, arrays);
  return detail::join_pack(json, arrays.bytes());
}

}  // namespace isotact

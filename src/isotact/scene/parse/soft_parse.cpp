#include <algorithm>

#include <fmt/format.h>

#include "isotact/base/error.h"
#include "isotact/scene/parse/detail/figures.h"
#include "isotact/scene/parse/detail/scene_reader.h"

namespace isotact::detail {
namespace {

constexpr double kMostSoft = 1e12;  // Limit of stiffness and similar values.
constexpr std::size_t kMostSteeringKeys = 100'000;

SoftMaterial read_soft_material(const JsonNode& node) {
  SoftMaterial m;
  struct Entry {
    const char* key;
    double SoftMaterial::*value;
    double most;
  };
  const Entry entries[] = {{"stiffness", &SoftMaterial::stiffness, kMostSoft},
                           {"damping", &SoftMaterial::damping, kMostSoft},
                           {"bending", &SoftMaterial::bending, kMostSoft},
                           {"struts", &SoftMaterial::struts, kMostSoft},
                           {"area", &SoftMaterial::area, kMostSoft},
                           {"volume", &SoftMaterial::volume, kMostSoft},
                           {"air_friction", &SoftMaterial::air_friction, 1e6},
                           {"max_strain", &SoftMaterial::max_strain, 100},
                           {"yield", &SoftMaterial::yield, 100},
                           {"creep", &SoftMaterial::creep, 1e6},
                           {"friction", &SoftMaterial::friction, 100}};
  JsonNode::Names keys;
  for (const Entry& e : entries) keys.emplace_back(e.key);
  node.expect_keys(keys);
  for (const Entry& e : entries)
    read_if(node, e.key, m.*e.value, [&](const auto& n) { return n.number({0, e.most}); });
  return m;
}

SheetShape read_sheet(const JsonNode& node) {
  const auto size = node.get("sheet").numbers(2, above_zero(1e4));
  SheetShape sheet{.width = size[0], .depth = size[1]};
  if (const auto cells = node.find("cells")) {
    const auto both = cells->items(2);
    if (both.size() != 2) cells->fail_expecting("two numbers of cells");
    sheet.cells_x = static_cast<int>(both[0].whole(1, 1000));
    sheet.cells_z = static_cast<int>(both[1].whole(1, 1000));
  }
  return sheet;
}

FigureShape read_figure(const JsonNode& node) {
  JsonNode::Names names;
  for (const FigureInfo& info : figure_catalogue()) names.emplace_back(info.name);
  FigureShape figure{.name = names[node.get("figure").choice(names)]};
  read_if(node, "size", figure.size, [](const auto& n) { return n.number(above_zero(1e4)); });
  return figure;
}

void read_soft_shape(const JsonNode& node, const std::filesystem::path& folder,
                     SceneSoftBody& body) {
  if (!node.is_object()) node.fail_expecting("an object");
  const std::string kind = node.choose_key({"make", "mesh", "data", "sheet", "figure"}, true);
  if (kind == "make") {
    node.expect_keys({"make", "with", "size"});
    body.source = read_made(node);
  } else if (kind == "mesh") {
    node.expect_keys({"mesh", "unit", "size", "scale"});
    body.source = read_mesh_file(node, folder);
  } else if (kind == "data") {
    node.expect_keys({"data", "size", "else"});
    body.source = read_data_file(node);
  } else if (kind == "sheet") {
    node.expect_keys({"sheet", "cells"});
    body.source = read_sheet(node);
  } else {
    node.expect_keys({"figure", "size"});
    body.source = read_figure(node);
  }
}

SteeringKey read_steering_key(const JsonNode& node) {
  node.expect_keys({"time", "velocity"});
  return {node.get("time").number({0, kMostSeconds}), node.get("velocity").vec(kMostSpeed)};
}

Steering read_steering(const JsonNode& node) {
  node.expect_keys({"speed", "period", "seed", "wobble", "velocity", "keys"});
  node.choose_key({"speed", "velocity", "keys"}, true);
  Steering steering;
  read_if(node, "speed", steering.speed, [](const auto& n) { return n.number({0, kMostSpeed}); });
  read_if(node, "period", steering.period, [](const auto& n) {
    return n.number({1e-6, kMostSeconds});
  });
  read_if(node, "seed", steering.seed, [](const auto& n) {
    return static_cast<std::uint64_t>(n.whole(0, std::int64_t{1} << 53));
  });
  read_if(node, "wobble", steering.wobble, [](const auto& n) { return n.number({0, 1e3}); });
  read_if(node, "velocity", steering.velocity, [](const auto& n) { return n.vec(kMostSpeed); });
  if (const auto keys = node.find("keys")) {
    for (const JsonNode& key : keys->items(kMostSteeringKeys)) {
      steering.keys.push_back(read_steering_key(key));
      const std::size_t n = steering.keys.size();
      if (n > 1 && !(steering.keys[n - 1].time > steering.keys[n - 2].time))
        key.get("time").fail("keys should be in order of time");
    }
    if (steering.keys.empty()) keys->fail_expecting("a key at least");
  }
  return steering;
}

}  // namespace

void read_soft_world(const JsonNode& node, SoftWorldSettings& settings) {
  node.expect_keys({"integrator", "cube", "contact"});
  if (const auto integrator = node.find("integrator"))
    settings.integrator =
        static_cast<SoftIntegrator>(integrator->choice({"verlet", "projected", "backward_euler"}));
  read_if(node, "cube", settings.cube, read_box);
  read_if(node, "contact", settings.contact, [](const auto& n) { return n.boolean(); });
}

void read_soft_body(const JsonNode& node, const std::filesystem::path& folder, Scene& scene) {
  node.expect_keys({"name", "shape", "material", "mass", "position", "rotation", "velocity",
                    "angular_velocity", "pinned", "margin", "self_contact", "steering", "colour",
                    "repeat"});
  SceneSoftBody body{.name = node.get("name").name()};
  read_soft_shape(node.get("shape"), folder, body);
  read_if(node, "material", body.material, read_soft_material);
  read_if(node, "mass", body.mass, [](const auto& n) { return n.number(above_zero(1e9)); });
  body.pose = read_pose(node);
  const auto read_speed = [](const JsonNode& n) { return n.vec(kMostSpeed); };
  read_if(node, "velocity", body.velocity, read_speed);
  read_if(node, "angular_velocity", body.angular_velocity, read_speed);
  read_if(node, "pinned", body.pinned, read_box);
  read_if(node, "margin", body.margin, [](const auto& n) { return n.number({0, 1e3}); });
  read_if(node, "self_contact", body.self_contact, [](const auto& n) { return n.boolean(); });
  read_if(node, "steering", body.steering, read_steering);
  read_if(node, "colour", body.colour, read_colour);
  const std::size_t room = kMostSceneBodies - scene.soft_bodies.size();
  if (const auto repeat = node.find("repeat")) {
    std::uint64_t number = 0;
    add_copies(body, read_repeat(*repeat, room), [&](SceneSoftBody copy) {
      if (copy.steering) copy.steering->seed += number++;  // Each copy follows its own path.
      scene.soft_bodies.push_back(std::move(copy));
    });
  } else if (room == 0) {
    node.fail(fmt::format("a scene may have {} soft bodies", kMostSceneBodies));
  } else {
    scene.soft_bodies.push_back(std::move(body));
  }
}

}  // namespace isotact::detail

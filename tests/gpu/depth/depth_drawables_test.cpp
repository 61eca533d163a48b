// Whatever can be drawn, and many at once.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "isotact/base/error.h"
#include "isotact/base/random.h"
#include "isotact/geometry/primitives/primitives.h"
#include "isotact/gpu/core/gl_state.h"
#include "isotact/gpu/depth/depth_detector.h"
#include "isotact/gpu/depth/mesh_drawable.h"

#include "drawn_scene.h"
#include "gpu/gpu_fixture.h"

namespace isotact {
namespace {

using GpuDrawablesTest = GpuTest;

std::vector<GpuDepthQuery> make_queries(int count) {
  Random random(5);
  std::vector<GpuDepthQuery> queries;
  for (int i = 0; i < count; ++i) {
    const auto next = [&] { return random.uniform(-1, 1); };
    queries.push_back(
        {i % 6,
         {normalized(Quat{next(), next(), next(), next()}), Vec3{next(), next(), next()} * 1.4}});
  }
  return queries;
}

TEST_F(GpuDrawablesTest, ManyAtOnceAreAsOneByOne) {
  DrawnScene scene(7);
  const std::vector<GpuDepthQuery> queries = make_queries(20);
  for (const DepthMethod method :
       {DepthMethod::kIntervals, DepthMethod::kTwoMaps, DepthMethod::kFragments}) {
    const DepthSettings settings{
        .method = method, .width = 48, .height = 40, .two_sided = true, .max_contacts = 10};
    GpuDepthDetector detector(gpu(), settings, {.slots = 6, .queries = 20});
    for (int i = 0; i < 6; ++i) detector.draw_map(i, {scene.object(i)}, scene.view);
    std::vector<DepthResult> together, alone;
    detector.fetch(detector.submit(queries, {scene.environment}), together);
    int colliding = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
      detector.fetch(detector.submit({&queries[i], 1}, {scene.environment}), alone);
      EXPECT_TRUE(is_close_report(together[i], alone[0])) << i << "\n"
                                                          << describe_report(together[i]) << "\n"
                                                          << describe_report(alone[0]);
      colliding += together[i].colliding ? 1 : 0;
    }
    EXPECT_GT(colliding, 3);
    EXPECT_LT(colliding, 18);
    // And once more: the same bits.
    std::vector<DepthResult> again;
    detector.fetch(detector.submit(queries, {scene.environment}), again);
    for (std::size_t i = 0; i < queries.size(); ++i)
      EXPECT_TRUE(is_same_report(together[i], again[i])) << describe_report(together[i]) << "\n"
                                                         << describe_report(again[i]);
  }
}

TEST_F(GpuDrawablesTest, WhatMissesTheBoxIsNotCalled) {
  DrawnScene scene(24);
  int calls = 0;
  std::vector<GpuDrawable> bounded;
  Random random(3);
  for (const GpuDrawable& plain : scene.environment) {
    // As DrawnScene places them; all fit into a ball of 0.75 m.
    const auto next = [&] { return random.uniform(-1, 1); };
    for (int i = 0; i < 4; ++i) next();
    const Vec3 at = Vec3{next(), next(), next()} * 1.5, half = Vec3{1, 1, 1} * 0.75;
    bounded.push_back(plain);
    bounded.back().bounds = Aabb{at - half, at + half};
    bounded.back().draw = [&calls, draw = plain.draw](const DrawPass& pass) {
      ++calls;
      draw(pass);
    };
  }
  const std::vector<GpuDepthQuery> queries = make_queries(20);
  GpuDepthDetector detector(gpu(), {.width = 48, .height = 40, .max_contacts = 10},
                            {.slots = 6, .queries = 20});
  for (int i = 0; i < 6; ++i) detector.draw_map(i, {scene.object(i)}, scene.view);
  std::vector<DepthResult> all, fewer;
  detector.fetch(detector.submit(queries, {scene.environment}), all);
  detector.fetch(detector.submit(queries, {bounded}), fewer);
  for (std::size_t i = 0; i < queries.size(); ++i)
    EXPECT_TRUE(is_same_report(all[i], fewer[i])) << describe_report(all[i]) << "\n"
                                                  << describe_report(fewer[i]);
  EXPECT_GT(calls, 50);
  EXPECT_LT(calls, 400);  // of 480
}

// Nothing of it is found in what comes next.
TEST_F(GpuDrawablesTest, CallbacksMayThrow) {
  struct Mishap {};
  DrawnScene scene(1);
  GpuDepthDetector detector(gpu(), {.width = 48, .height = 48});
  const GpuDrawable ball = scene.ball.drawable();
  detector.draw_map(0, {ball}, scene.view);
  const DepthMap map = detector.read_map(0);
  const auto fails = [](const DrawPass&) { throw Mishap{}; };
  EXPECT_THROW(detector.detect({}, {ball, {.draw = fails}}), Mishap);
  const DepthResult nothing = detector.detect({}, GpuDepthScene{});
  EXPECT_FALSE(nothing.colliding);
  EXPECT_EQ(nothing.pixels, 0U);
  EXPECT_THROW(detector.draw_map(0, {scene.box.drawable(), {.draw = fails}}, scene.view), Mishap);
  EXPECT_THROW(detector.detect({}, GpuDepthScene{}), Error);  // no map now
  detector.draw_map(0, {ball}, scene.view);
  EXPECT_EQ(detector.read_map(0).covered, map.covered);
}

TEST_F(GpuDrawablesTest, ContextsMustBeCurrent) {
  gpu().release();
  EXPECT_THROW(GpuDepthDetector(gpu(), {.width = 32, .height = 32}), Error);
  gpu().make_current();
  EXPECT_NO_THROW(GpuDepthDetector(gpu(), {.width = 32, .height = 32}));
}

TEST_F(GpuDrawablesTest, WhatMakesNoSenseIsRefused) {
  DrawnScene scene(1);
  GpuDepthDetector detector(gpu(), {.width = 32, .height = 32});
  detector.draw_map(0, {scene.ball.drawable()}, scene.view);
  const double nan = std::nan("");
  EXPECT_THROW(detector.detect({Quat{}, {nan, 0, 0}}, GpuDepthScene{scene.environment, {}}), Error);
  EXPECT_THROW(detector.detect({Quat{0, 0, 0, 0}, {}}, GpuDepthScene{scene.environment, {}}),
               Error);
  EXPECT_THROW(detector.detect({}, {GpuDrawable{}}), Error);
  DepthView flat = scene.view;
  flat.half_size.y = 0;
  EXPECT_THROW(detector.draw_map(0, {scene.ball.drawable()}, flat), Error);
  flat.half_size.y = nan;
  EXPECT_THROW(detector.draw_map(0, {scene.ball.drawable()}, flat), Error);
  EXPECT_THROW(GpuDepthDetector(gpu(), {.width = 4096, .height = 4096, .layers = 8},
                                {.slots = 1024, .queries = 1}),
               Error);
}

TEST_F(GpuDrawablesTest, SeveralSubmissionsAreInFlight) {
  DrawnScene scene(5);
  GpuDepthDetector detector(gpu(), {.width = kDrawnSize, .height = kDrawnSize, .max_contacts = 4});
  detector.draw_map(0, {scene.object(2)}, scene.view);
  std::vector<GpuDepthQuery> queries = make_queries(3);
  std::vector<GpuDepthTicket> tickets;
  for (GpuDepthQuery& q : queries) {
    q.slot = 0;
    tickets.push_back(detector.submit({&q, 1}, {scene.environment}));
  }
  EXPECT_THROW((void)detector.submit(queries, {scene.environment}), Error);  // too many queries
  EXPECT_THROW((void)detector.submit({queries.data(), 1}, {scene.environment}), Error);
  std::vector<DepthResult> got;
  for (const std::size_t i : {std::size_t{2}, std::size_t{0}, std::size_t{1}}) {
    while (!detector.is_ready(tickets[i])) {
    }
    detector.fetch(tickets[i], got);
    EXPECT_TRUE(
        is_same_report(got[0], detector.detect(queries[i].world_from_object, {scene.environment})));
  }
  EXPECT_THROW(detector.fetch(tickets[0], got), Error);
  detector.forget(detector.submit({queries.data(), 1}, {scene.environment}));
}

TEST_F(GpuDrawablesTest, ResultsMayStayOnTheGpu) {
  DrawnScene scene(40);  // two words of bits
  GpuDepthDetector detector(gpu(), {.width = kDrawnSize, .height = kDrawnSize, .max_contacts = 4});
  detector.draw_map(0, {scene.object(1)}, scene.view);
  const GpuDepthQuery query{0, {}};
  std::vector<DepthResult> report;
  detector.fetch(detector.submit({&query, 1}, {scene.environment}), report);
  ASSERT_TRUE(report[0].colliding);
  const GpuDepthResults results = detector.submit_on_gpu({&query, 1}, {scene.environment});
  ASSERT_EQ(results.queries, 1U);
  std::vector<std::uint32_t> words(results.stride / 4);
  glGetNamedBufferSubData(results.buffer, 0, results.stride, words.data());
  EXPECT_EQ(words[0], report[0].pixels);
  EXPECT_EQ(words[2], report[0].contacts.size());
  EXPECT_EQ(static_cast<std::int32_t>(words[5]), report[0].last_pixel[0]);
  EXPECT_EQ(100 - words[8], report[0].deepest_id);
  float depth = 0;
  std::memcpy(&depth, &words[10], 4);
  EXPECT_NEAR(double{depth} * 2 * scene.view.half_size.z, report[0].depth, 1e-6);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 40; ++i)
    if ((words[16 + 4 * 8 + i / 32] >> (i % 32) & 1U) != 0) ids.push_back(100 - i);
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(ids, report[0].ids);
}

TEST_F(GpuDrawablesTest, DeformingObjectsAreDrawnAgain) {
  DrawnScene scene(0);
  GpuDepthDetector detector(gpu(), {.width = kDrawnSize, .height = kDrawnSize});
  const GpuDrawable wall = scene.box.drawable(4, {.translation = {0, 0.9, 0}});
  std::vector<bool> met;
  for (int step = 0; step < 8; ++step) {
    // The wing turns until it reaches the wall.
    const GpuDrawable object[] = {
        scene.box.drawable(0, {rotation_about({0, 0, 1}, 0.2 * step), {}})};
    detector.draw_map(0, object, scene.view, MapUpdate::kQueue);
    const DepthResult report = detector.detect({}, {wall});
    met.push_back(report.colliding);
    // Its corner's height against the wall's underside, 0.7 m.
    const double top = 0.5 * std::abs(std::sin(0.2 * step)) + 0.2 * std::abs(std::cos(0.2 * step));
    EXPECT_FALSE(top < 0.7 && report.colliding) << step;
  }
  EXPECT_FALSE(met.front());
  const GpuDrawable tall[] = {scene.box.drawable(0, {rotation_about({0, 0, 1}, 1.2), {0, 0.3, 0}})};
  detector.draw_map(0, tall, scene.view, MapUpdate::kQueue);
  EXPECT_TRUE(detector.detect({}, {wall}).colliding);
}

// A drawable that has every stage: patches, turned into a wavy sheet, each triangle of which
// becomes a triangle and a line or a point.
constexpr const char* kPatchVertex = R"(
void main() { gl_Position = vec4(gl_VertexID & 1, gl_VertexID >> 1, 0, 1); }
)";
constexpr const char* kPatchControl = R"(
layout(vertices = 4) out;
void main() {
  gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
  for (int i = 0; i < 4; ++i) gl_TessLevelOuter[i] = 8;
  gl_TessLevelInner[0] = gl_TessLevelInner[1] = 8;
}
)";
constexpr const char* kPatchEvaluation = R"(
layout(quads, equal_spacing, ccw) in;
layout(location = 0) uniform mat4 clip_from_world;
layout(location = 1) uniform float height;
void main() {
  vec2 p = 2 * gl_TessCoord.xy - 1;
  gl_Position = clip_from_world * vec4(p.x, height + 0.05 * sin(6 * p.x), p.y, 1);
}
)";
constexpr const char* kLines = R"(
layout(triangles) in;
layout(line_strip, max_vertices = 2) out;
void main() {
  for (int i = 0; i < 2; ++i) { gl_Position = gl_in[i].gl_Position; EmitVertex(); }
}
)";
constexpr const char* kPoints = R"(
layout(triangles) in;
layout(points, max_vertices = 1) out;
void main() { gl_Position = gl_in[0].gl_Position; gl_PointSize = 1; EmitVertex(); }
)";

TEST_F(GpuDrawablesTest, AllStagesOfThePipelineMayMakeThem) {
  DrawnScene scene(0);
  GLuint vertices = 0;
  glCreateVertexArrays(1, &vertices);
  const auto stages = [](const char* geometry) {
    return DrawStages{.vertex = kPatchVertex,
                      .tess_control = kPatchControl,
                      .tess_evaluation = kPatchEvaluation,
                      .geometry = geometry,
                      .name = "sheet"};
  };
  GpuDrawProgram sheet(stages("")), lines(stages(kLines)), points(stages(kPoints));
  const auto drawable = [&](GpuDrawProgram& program, float height, std::uint32_t id,
                            DepthPrimitive primitive) {
    return GpuDrawable{.draw =
                           [&program, height, vertices](const DrawPass& pass) {
                             program.use(pass);
                             glUniform1f(1, height);
                             glPatchParameteri(GL_PATCH_VERTICES, 4);
                             glBindVertexArray(vertices);
                             glDrawArrays(GL_PATCHES, 0, 4);
                           },
                       .id = id,
                       .primitive = primitive};
  };
  for (const DepthMethod method :
       {DepthMethod::kIntervals, DepthMethod::kTwoMaps, DepthMethod::kFragments}) {
    GpuDepthDetector detector(gpu(), {.method = method,
                                      .width = kDrawnSize,
                                      .height = kDrawnSize,
                                      .two_sided = true,
                                      .max_contacts = 5});
    detector.draw_map(0, {scene.ball.drawable()}, scene.view);
    const auto detect = [&](float height) {
      return detector.detect({}, {drawable(sheet, height, 1, DepthPrimitive::kTriangles),
                                  drawable(lines, height + 0.2F, 2, DepthPrimitive::kLines),
                                  drawable(points, height - 0.2F, 3, DepthPrimitive::kPoints)});
    };
    const DepthResult report = detect(0);
    EXPECT_TRUE(report.colliding);
    if (method != DepthMethod::kTwoMaps) {
      EXPECT_EQ(report.ids, (std::vector<std::uint32_t>{1, 2, 3}));
    }
    EXPECT_EQ(report.contacts.size(), 5U);
    EXPECT_FALSE(detect(1.2F).colliding);
    const DepthResult above = detect(0.65F);  // only the points reach it
    EXPECT_EQ(above.ids, std::vector<std::uint32_t>{3});
    for (const Contact& c : above.contacts)  // along the view
      EXPECT_NEAR(std::abs(dot(c.normal, transform_vector(scene.view.object_from_view, {0, 0, 1}))),
                  1, 1e-6);
  }
  glDeleteVertexArrays(1, &vertices);
}

// A triangle that only a transform feedback knows, and how many corners it has, too.
TEST_F(GpuDrawablesTest, TransformFeedbackMayMakeThem) {
  constexpr const char* kMake = R"(
layout(xfb_buffer = 0, xfb_stride = 12, xfb_offset = 0) out vec3 made;
layout(location = 0) uniform float height;
void main() { made = vec3(2 * (gl_VertexID % 2) - 1, height, gl_VertexID - 1); }
)";
  constexpr const char* kShow = R"(
layout(location = 0) in vec3 position;
layout(location = 0) uniform mat4 clip_from_world;
void main() { gl_Position = clip_from_world * vec4(position, 1); }
)";
  DrawnScene scene(0);
  const FragmentShader nothing("depth_only.frag");
  GpuDrawProgram maker({.vertex = kMake, .name = "maker"}), shown({.vertex = kShow});
  GLuint buffer = 0, feedback = 0, vertices = 0, framebuffer = 0;
  glCreateFramebuffers(1, &framebuffer);  // there may be no window
  glNamedFramebufferParameteri(framebuffer, GL_FRAMEBUFFER_DEFAULT_WIDTH, 1);
  glNamedFramebufferParameteri(framebuffer, GL_FRAMEBUFFER_DEFAULT_HEIGHT, 1);
  glCreateBuffers(1, &buffer);
  glNamedBufferStorage(buffer, 256, nullptr, 0);
  glCreateTransformFeedbacks(1, &feedback);
  glTransformFeedbackBufferBase(feedback, 0, buffer);
  glCreateVertexArrays(1, &vertices);
  const auto make = [&](float height) {
    const GpuStateGuard guard;
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glUseProgram(maker.link(nothing));
    glUniform1f(0, height);
    glBindVertexArray(vertices);
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_TRIANGLES);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glEndTransformFeedback();
    glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
  };
  make(0);
  GLuint shown_vertices = 0;
  glCreateVertexArrays(1, &shown_vertices);
  glVertexArrayVertexBuffer(shown_vertices, 0, buffer, 0, 12);
  glVertexArrayAttribFormat(shown_vertices, 0, 3, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(shown_vertices, 0, 0);
  glEnableVertexArrayAttrib(shown_vertices, 0);
  const auto draw = [&](const DrawPass& pass) {
    shown.use(pass);
    glBindVertexArray(shown_vertices);
    glDrawTransformFeedback(GL_TRIANGLES, feedback);
  };
  GpuDepthDetector detector(gpu(), {.width = kDrawnSize, .height = kDrawnSize});
  detector.draw_map(0, {scene.ball.drawable()}, scene.view);
  const DepthResult report = detector.detect({}, {{.draw = draw, .id = 9}});
  EXPECT_GT(report.pixels, 100U);
  EXPECT_EQ(report.ids, std::vector<std::uint32_t>{9});
  make(0.8F);  // above the ball
  EXPECT_FALSE(detector.detect({}, {{.draw = draw, .id = 9}}).colliding);
  EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
  glDeleteVertexArrays(1, &vertices);
  glDeleteVertexArrays(1, &shown_vertices);
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteTransformFeedbacks(1, &feedback);
  glDeleteBuffers(1, &buffer);
}

TEST_F(GpuDrawablesTest, MistakesOfCallersShadersAreTold) {
  const auto complaint = [](const DrawStages& stages) -> std::string {
    try {
      GpuDrawProgram program(stages);
      const FragmentShader fragment("depth_only.frag");
      (void)program.link(fragment);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const std::string bad =
      complaint({.vertex = "void main() {\n  gl_Position = nonsense;\n}\n", .name = "mine"});
  EXPECT_NE(bad.find("mine.vert:2"), std::string::npos) << bad;
  EXPECT_NE(complaint({}), "");
  EXPECT_EQ(complaint({.vertex = "#version 450 core\nvoid main() { gl_Position = vec4(0); }\n"}),
            "");
}

}  // namespace
}  // namespace isotact

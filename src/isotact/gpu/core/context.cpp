// The only file that names EGL.
#include "isotact/gpu/core/context.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <fmt/format.h>

#include "isotact/base/error.h"

#if defined(__SANITIZE_ADDRESS__)
// Mesa's compiler keeps some memory to the end of the program. Weak: programs may have their own.
extern "C" __attribute__((weak)) const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:libLLVM\nleak:libgallium\nleak:swrast_dri\nleak:libEGL\nleak:libGL\nleak:libdrm\n";
}
#endif

namespace isotact {

struct GpuContext::State {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLContext context = EGL_NO_CONTEXT;  // None: the caller's.
  GpuInfo info;

  ~State() {
    if (context == EGL_NO_CONTEXT) return;
    if (eglGetCurrentContext() == context)
      eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
  }
};

namespace {

constexpr int kLeastVersion = 45;

std::string gl_text(GLenum what) {
  const GLubyte* text = glGetString(what);
  return text == nullptr ? "?" : reinterpret_cast<const char*>(text);
}

std::int64_t gl_number(GLenum what) {
  GLint64 value = 0;
  glGetInteger64v(what, &value);
  return value;
}

std::int64_t gl_number(GLenum what, GLuint axis) {
  GLint value = 0;
  glGetIntegeri_v(what, axis, &value);
  return value;
}

GpuInfo read_info() {
  GpuInfo info;
  info.vendor = gl_text(GL_VENDOR);
  info.renderer = gl_text(GL_RENDERER);
  info.version = gl_text(GL_VERSION);
  const auto has = [&](const char* name) { return info.renderer.find(name) != std::string::npos; };
  info.software = has("llvmpipe") || has("softpipe") || has("swrast");
  info.bindless = epoxy_has_gl_extension("GL_ARB_bindless_texture");
  info.conservative_raster = epoxy_has_gl_extension("GL_NV_conservative_raster") ||
                             epoxy_has_gl_extension("GL_INTEL_conservative_rasterization");
  info.max_texture_3d = gl_number(GL_MAX_3D_TEXTURE_SIZE);
  info.max_storage_bytes = gl_number(GL_MAX_SHADER_STORAGE_BLOCK_SIZE);
  info.max_storage_bindings = gl_number(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS);
  info.max_groups_x = gl_number(GL_MAX_COMPUTE_WORK_GROUP_COUNT, 0);
  info.max_group_size = gl_number(GL_MAX_COMPUTE_WORK_GROUP_INVOCATIONS);
  info.shared_bytes = gl_number(GL_MAX_COMPUTE_SHARED_MEMORY_SIZE);
  info.max_picture = std::min({gl_number(GL_MAX_TEXTURE_SIZE), gl_number(GL_MAX_FRAMEBUFFER_WIDTH),
                               gl_number(GL_MAX_FRAMEBUFFER_HEIGHT)});
  return info;
}

// Displays stay initialised for the life of the program: other users in the process may depend on
// them.
struct Candidate {
  EGLDisplay display;
  std::string name;
};

std::vector<Candidate> find_displays(std::string& tried) {
  std::vector<Candidate> found;
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
      epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration")) {
    EGLDeviceEXT devices[32];
    EGLint count = 0;
    if (eglQueryDevicesEXT(32, devices, &count) == EGL_TRUE)
      for (EGLint i = 0; i < count; ++i)
        found.push_back({eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], nullptr),
                         fmt::format("device {}", i)});
    if (count == 0) tried += "; EGL names no device";
  }
  if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
    found.push_back(
        {eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr),
         "surfaceless"});
  if (found.empty()) tried += "; EGL has neither devices nor Mesa's surfaceless platform";
  return found;
}

// Returns a current context of OpenGL 4.5 core on this display, or none with the reason.
EGLContext make_context(const Candidate& candidate, std::string& tried) {
  const auto fail = [&](std::string_view what) {
    tried += fmt::format("; {}: {} (EGL error {:#x})", candidate.name, what, eglGetError());
    return EGL_NO_CONTEXT;
  };
  if (candidate.display == EGL_NO_DISPLAY) return fail("no display");
  if (eglInitialize(candidate.display, nullptr, nullptr) != EGL_TRUE) return fail("does not start");
  if (eglBindAPI(EGL_OPENGL_API) != EGL_TRUE) return fail("has no OpenGL");
  if (!epoxy_has_egl_extension(candidate.display, "EGL_KHR_surfaceless_context"))
    return fail("has no contexts without a surface");
  const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION,
                           4,
                           EGL_CONTEXT_MINOR_VERSION,
                           5,
                           EGL_CONTEXT_OPENGL_PROFILE_MASK,
                           EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                           EGL_NONE};
  EGLConfig config = EGL_NO_CONFIG_KHR;
  if (!epoxy_has_egl_extension(candidate.display, "EGL_KHR_no_config_context")) {
    const EGLint any[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLint count = 0;
    if (eglChooseConfig(candidate.display, any, &config, 1, &count) != EGL_TRUE || count == 0)
      return fail("has no configuration for OpenGL");
  }
  EGLContext context = eglCreateContext(candidate.display, config, EGL_NO_CONTEXT, wanted);
  if (context == EGL_NO_CONTEXT) return fail("has no OpenGL 4.5 core");
  if (eglMakeCurrent(candidate.display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) != EGL_TRUE) {
    eglDestroyContext(candidate.display, context);
    return fail("its context cannot be made current");
  }
  return context;
}

// Reads ISOTACT_GPU. Returns false for `none`.
bool read_environment(GpuChoice& choice, std::string* why) {
  const char* text = std::getenv("ISOTACT_GPU");
  if (text == nullptr || *text == 0 || choice != GpuChoice::kAny) return true;
  if (std::strcmp(text, "hardware") == 0)
    choice = GpuChoice::kHardware;
  else if (std::strcmp(text, "software") == 0)
    choice = GpuChoice::kSoftware;
  else {
    *why = std::strcmp(text, "none") == 0
               ? "ISOTACT_GPU=none forbids it"
               : fmt::format("ISOTACT_GPU is '{}', expected hardware, software or none", text);
    return false;
  }
  return true;
}

bool is_wanted(GpuChoice choice, const GpuInfo& info) {
  return choice == GpuChoice::kAny || info.software == (choice == GpuChoice::kSoftware);
}

}  // namespace

GpuContext::GpuContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
GpuContext::GpuContext(GpuContext&&) noexcept = default;
GpuContext& GpuContext::operator=(GpuContext&&) noexcept = default;
GpuContext::~GpuContext() = default;

std::optional<GpuContext> GpuContext::try_create(std::string* why, GpuChoice choice) {
  std::string ignored;
  std::string& reason = why == nullptr ? ignored : *why;
  if (!read_environment(choice, &reason)) return std::nullopt;
  std::string tried;
  std::unique_ptr<State> best;
  for (const Candidate& candidate : find_displays(tried)) {
    auto state = std::make_unique<State>();
    state->display = candidate.display;
    state->context = make_context(candidate, tried);
    if (state->context == EGL_NO_CONTEXT) continue;
    state->info = read_info();
    if (!is_wanted(choice, state->info)) {
      tried +=
          fmt::format("; {}: {} is not what was asked for", candidate.name, state->info.renderer);
      continue;
    }
    const bool is_hardware = !state->info.software;
    if (is_hardware || !best) best = std::move(state);
    if (is_hardware) break;
  }
  if (!best) {
    reason = "no OpenGL 4.5 context could be made" + tried;
    return std::nullopt;
  }
  GpuContext context(std::move(best));
  context.make_current();
  return context;
}

GpuContext GpuContext::create(GpuChoice choice) {
  std::string why;
  std::optional<GpuContext> context = try_create(&why, choice);
  if (!context) throw Error("no GPU: " + why);
  return std::move(*context);
}

GpuContext GpuContext::adopt_current() {
  const bool is_any =
      eglGetCurrentContext() != EGL_NO_CONTEXT || glGetString(GL_VERSION) != nullptr;
  if (!is_any) throw Error("no OpenGL context is current on this thread");
  if (!epoxy_is_desktop_gl() || epoxy_gl_version() < kLeastVersion)
    throw Error(fmt::format("the current context is {}, OpenGL 4.5 or newer is needed",
                            gl_text(GL_VERSION)));
  auto state = std::make_unique<State>();
  state->info = read_info();
  return GpuContext(std::move(state));
}

void GpuContext::make_current() const {
  if (state_->context == EGL_NO_CONTEXT) return;
  eglBindAPI(EGL_OPENGL_API);
  if (eglMakeCurrent(state_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, state_->context) != EGL_TRUE)
    throw Error(
        "the GPU context cannot be made current: is it current on another thread? "
        "release() it there first");
}

void GpuContext::release() const {
  if (state_->context == EGL_NO_CONTEXT || eglGetCurrentContext() != state_->context) return;
  eglMakeCurrent(state_->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
}

void GpuContext::check_current() const {
  if (state_->context == EGL_NO_CONTEXT || eglGetCurrentContext() == state_->context) return;
  throw Error("the GPU context is not current on this thread: make_current() first");
}

const GpuInfo& GpuContext::info() const { return state_->info; }

std::string describe(const GpuInfo& info) {
  return fmt::format(
      "{} ({}, OpenGL {}){}, {}, {}", info.renderer, info.vendor, info.version,
      info.software ? ", software" : "",
      info.bindless ? "bindless textures" : "no bindless textures",
      info.conservative_raster ? "conservative rasterisation" : "no conservative rasterisation");
}

GpuTimer::GpuTimer() { glCreateQueries(GL_TIMESTAMP, 2, queries_); }
GpuTimer::~GpuTimer() { glDeleteQueries(2, queries_); }
void GpuTimer::begin() { glQueryCounter(queries_[0], GL_TIMESTAMP); }
void GpuTimer::end() { glQueryCounter(queries_[1], GL_TIMESTAMP); }

double GpuTimer::milliseconds() const {
  GLuint64 times[2] = {};
  for (int i = 0; i < 2; ++i) glGetQueryObjectui64v(queries_[i], GL_QUERY_RESULT, &times[i]);
  return static_cast<double>(times[1] - times[0]) * 1e-6;
}

}  // namespace isotact

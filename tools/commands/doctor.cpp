// isotact doctor: what this build is and what this machine offers.
#include <fmt/format.h>

#include "isotact/base/machine.h"
#include "isotact/base/parallel.h"
#include "isotact/version.h"

#include "build_facts.h"
#include "command.h"
#include "input/field_file.h"
#include "page/query_module.h"
#include "page/run_page.h"

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/core/context.h"
#endif

namespace isotact::tool {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = "clang " __clang_version__;
#else
constexpr const char* kCompiler = "gcc " __VERSION__;
#endif

[[maybe_unused]] std::string left_out(const char* reason) {
  return std::string("not built in: ") + reason;
}

// What the GPU is and may be asked for; or why there is none.
void diagnose_gpu(Json& report) {
#if defined(ISOTACT_HAS_GPU)
  std::string why;
  const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
  if (!gpu) {
    report["gpu"] = "none: " + why;
    return;
  }
  const GpuInfo& info = gpu->info();
  report["gpu"] = describe(info);
  report["gpu_limits"] = {{"vendor", info.vendor},
                          {"renderer", info.renderer},
                          {"opengl_version", info.version},
                          {"software", info.software},
                          {"bindless", info.bindless},
                          {"max_texture_3d", info.max_texture_3d},
                          {"max_storage_bytes", info.max_storage_bytes},
                          {"max_groups_x", info.max_groups_x},
                          {"max_group_size", info.max_group_size},
                          {"shared_bytes", info.shared_bytes}};
#else
  report["gpu"] = left_out(kNoGpu);
#endif
}

std::string gpu_limits(const Json& r) {
  if (!r.contains("gpu_limits")) return "-";
  const Json& l = r["gpu_limits"];
  return fmt::format("textures of {} texels per axis, buffers of {:.1f} GB, {} KB shared",
                     l["max_texture_3d"].get<std::int64_t>(),
                     static_cast<double>(l["max_storage_bytes"].get<std::int64_t>()) / 1e9,
                     l["shared_bytes"].get<std::int64_t>() / 1024);
}

Json diagnose(Threads threads) {
  Json report;
  report["version"] = ISOTACT_VERSION_STRING;
  report["compiler"] = kCompiler;
  report["build_type"] = kBuildType;
  report["march"] = kMarch;
  report["library"] = kLibraryKind;
  report["modules"] = kModules;
  report["sanitizers"] = kSanitizers;
#ifdef NDEBUG
  report["assertions"] = false;
#else
  report["assertions"] = true;
#endif
  report["threads"] = resolve(threads);
  report["thread_backend"] = thread_backend();
  report["simd_cpu"] = name(simd_level_of_cpu());
  report["simd_used"] = name(simd_level());
  report["memory_bytes"] = physical_memory();
  diagnose_gpu(report);
#if defined(ISOTACT_HAS_OPENVDB)
  report["openvdb"] = openvdb_support();
#else
  report["openvdb"] = left_out(kNoOpenvdb);
#endif
#if defined(ISOTACT_HAS_BULLET)
  report["bullet"] = "built in (scenes with \"engine\": \"bullet\")";
#else
  report["bullet"] = left_out(kNoBullet);
#endif
  report["viewer"] = viewer_support();
  report["webassembly"] = query_support();
  report["readers"] = {"obj", "stl", "ply", "off", "gltf", "glb"};
  report["writers"] = {"obj", "stl", "ply", "glb"};
  report["field_writers"] = field_formats();
  return report;
}

std::string joined(const Json& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : " ") + item.get<std::string>();
  return text;
}

void print_report(const Json& r) {
  const auto text = [&](const char* key) { return r[key].get<std::string>(); };
  const std::string sanitizers = text("sanitizers");
  print_facts({
      {"isotact", text("version")},
      {"compiler", text("compiler")},
      {"build",
       fmt::format("{} for {}, {} library, assertions {}{}{}", text("build_type"), text("march"),
                   text("library"), r["assertions"].get<bool>() ? "on" : "off",
                   sanitizers.empty() ? "" : ", sanitizers ", sanitizers)},
      {"modules", joined(r["modules"])},
      {"threads", fmt::format("{} ({})", r["threads"].get<int>(), text("thread_backend"))},
      {"simd", fmt::format("{} used, processor offers {} (limit with ISOTACT_SIMD=baseline)",
                           text("simd_used"), text("simd_cpu"))},
      {"memory", fmt::format("{:.1f} GB", r["memory_bytes"].get<double>() / 1e9)},
      {"gpu", text("gpu")},
      {"gpu limits", gpu_limits(r)},
      {"openvdb", text("openvdb")},
      {"bullet", text("bullet")},
      {"viewer", text("viewer")},
      {"webassembly", text("webassembly")},
      {"reads", joined(r["readers"])},
      {"writes", joined(r["writers"])},
      {"fields as", text("field_writers")},
  });
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto options = std::make_shared<CommonOptions>();
  Command command = line.add_command("doctor", "Show compiler, threads, SIMD, GPU, parts");
  command.set_examples("Example:\n  isotact doctor --json");
  add_common_options(command, *options);
  command.on_run([options] {
    const Json report = diagnose(options->thread_setting());
    if (options->json)
      print_json(report);
    else
      print_report(report);
  });
}

}  // namespace isotact::tool

#include "collide/collide_idf.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "isotact/queries/intersection/intersection_field.h"

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/intersection/intersection_query.h"
#endif

namespace isotact::tool {
namespace {

// The GPU if it is requested and present, or the CPU. Measures its time.
class IdfDevice final : public IntersectionBackend {
 public:
  explicit IdfDevice(bool gpu) : wants_gpu_(gpu) {}

  void intersect(std::span<const IdfShape> shapes, std::span<const IdfBody> bodies,
                 std::span<const IdfPair> pairs, const IdfSettings& settings, IdfResult& result,
                 IdfScratch& scratch) override {
    const auto run_timed = [&](const auto& run) {
      const auto start = std::chrono::steady_clock::now();
      run();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    if (wants_gpu_) {
      std::string why = "it is not built in";
#if defined(ISOTACT_HAS_GPU)
      if (const std::optional<GpuContext> gpu = GpuContext::try_create(&why)) {
        GpuIntersectionQuery query(*gpu, shapes);
        const auto ask = [&] { query.run(bodies, pairs, settings, result, scratch); };
        ask();  // compiles shaders
        scratch = {};
        run_timed(ask);
        name = describe(gpu->info());
        return;
      }
#endif
      warning = "no GPU, the CPU answers: " + why;
    }
    run_timed([&] { intersect_fields(shapes, bodies, pairs, settings, result, scratch); });
  }

  std::string name = "cpu", warning{};
  double seconds = 0;

 private:
  bool wants_gpu_;
};

const char* status_of(const IdfReport& r) { return name(r.result.status); }

}  // namespace

void add_idf_options(Command& command, IdfOptions& options) {
  command.add_whole(
      {.names = "--samples",
       .help = "With --method idf: about this many samples along each side of the common box, "
               "1 to 30 (default: 20)",
       .value_name = "N"},
      options.samples, {1, kMostIdfSamples});
  command.add_length(
      {.names = "--overlap",
       .help = "With --method idf: find every common part that contains a ball of this radius, "
               "in metres (default: a hundredth of the smaller body's longest side)",
       .value_name = "S"},
      options.overlap, {1e-12, 1e12});
}

IdfReport find_idf_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                            const Pose& world_from_b, const IdfOptions& options, double margin,
                            bool gpu, std::uint32_t max_contacts, Threads threads) {
  IdfDevice device(gpu);
  IdfReport report;
  report.request = {
      .method = Method::kIntersectionField,
      .margin = margin,
      .intersection = {.keep = std::min<std::uint32_t>(max_contacts, kMostIdfContacts),
                       .backend = &device},
      .threads = threads};
  if (options.samples >= 0) report.request.intersection.samples = options.samples;
  if (options.overlap >= 0) report.request.intersection.resolution = options.overlap;
  report.result = collide(a, world_from_a, b, world_from_b, report.request);
  report.request.intersection.backend = nullptr;
  report.device = device.name;
  report.seconds = device.seconds;
  if (!device.warning.empty()) {
    report.warnings.push_back(device.warning);
    fmt::print(stderr, "isotact: warning: {}\n", device.warning);
  }
  return report;
}

void print_report(const IdfReport& r) {
  Facts facts{{"status", std::string(status_of(r)) + " (not exact)"}, {"device", r.device}};
  if (!r.result.contacts.empty()) add_contact(facts, r.result.contacts.front(), r.unit);
  facts.emplace_back("contacts",
                     fmt::format("{} of {} particles that arrived, {} in all",
                                 r.result.contacts.size(), r.result.arrived, r.result.particles));
  if (r.measured)
    add_distance(facts, *r.measured, r.unit);
  else if (r.nearest && r.nearest->status == ApproachStatus::kDone)
    facts.emplace_back("distance", r.unit.format(r.nearest->distance));
  if (std::isfinite(r.result.blind_depth))
    facts.emplace_back(
        "unseen", "nothing in common that holds a ball of " + r.unit.format(r.result.blind_depth));
  facts.emplace_back("time", fmt::format("{:.3g} s", r.seconds));
  print_facts(facts);
}

Json to_json(const IdfReport& r) {
  Json contacts = Json::array();
  for (const Contact& c : r.result.contacts) contacts.push_back(to_json(c));
  const bool touches = !r.result.contacts.empty();
  Json j{{"status", status_of(r)},
         {"method", "idf"},
         {"device", r.device},
         {"motion", r.motion},
         {"contacts", contacts},
         {"min_distance", nullptr},
         {"time_of_contact", nullptr},
         {"intervals", Json::array()},
         {"force", nullptr},
         {"torque", nullptr},
         {"samples_per_side", r.request.intersection.samples},
         {"particles", r.result.particles},
         {"arrived", r.result.arrived},
         {"blind_depth", nullptr},
         {"warnings", r.warnings},
         {"seconds", r.seconds}};
  if (r.nearest && r.nearest->status == ApproachStatus::kDone) {
    j["min_distance"] = r.nearest->distance;
    j["min_distance_time"] = 0;
  }
  j["exact"] = false;
  if (r.measured) add_distance(j, *r.measured);
  if (std::isfinite(r.result.blind_depth)) j["blind_depth"] = r.result.blind_depth;
  if (touches) {
    j["time_of_contact"] = 0;
    j["intervals"].push_back({0, 1});
  }
  return j;
}

}  // namespace isotact::tool

#include "collide_idf.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "isotact/base/error.h"

#if defined(ISOTACT_HAS_GPU)
#include "isotact/gpu/intersection/intersection_query.h"
#endif

namespace isotact::tool {
namespace {

IdfShape shape_of(const Shape& shape, const char* which) {
  if (!shape.field())
    throw Error(fmt::format("--method idf needs a field of {}, and it has none", which));
  return IdfShape(*shape.field());
}

struct IdfScene {
  std::vector<IdfShape> shapes;
  std::vector<IdfBody> bodies;
  std::vector<IdfPair> pairs;
};

template <typename Work>
double time_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// False where there is no GPU, and a warning says why.
bool ask_gpu([[maybe_unused]] const IdfScene& scene, IdfReport& report) {
  std::string why = "it is not built in";
#if defined(ISOTACT_HAS_GPU)
  const std::optional<GpuContext> gpu = GpuContext::try_create(&why);
  if (gpu) {
    GpuIntersectionQuery query(*gpu, scene.shapes);
    const auto ask = [&] {
      IdfScratch scratch;
      query.run(scene.bodies, scene.pairs, report.settings, report.result, scratch);
    };
    ask();  // compiles shaders
    report.seconds = time_of(ask);
    report.device = describe(gpu->info());
    return true;
  }
#endif
  report.warnings.push_back("no GPU, the CPU answers: " + why);
  fmt::print(stderr, "isotact: warning: {}\n", report.warnings.back());
  return false;
}

// Without a wish for a shell around the bodies only overlaps count.
void drop_gaps(IdfReport& report) {
  std::vector<Contact>& contacts = report.result.contacts;
  std::erase_if(contacts, [](const Contact& c) { return c.depth < 0; });
  report.result.first_contact = {0, static_cast<std::uint32_t>(contacts.size())};
}

const char* status_of(const IdfReport& r) { return r.result.contacts.empty() ? "free" : "contact"; }

}  // namespace

void add_idf_options(Command& command, IdfOptions& options) {
  command.add_whole(
      {.names = "--samples",
       .help = "With --method idf: about this many samples along each side of the common box, "
               "1 to 30 (default: 20)",
       .value_name = "N"},
      options.samples, {1, kMostIdfSamples});
  command.add_number(
      {.names = "--overlap",
       .help = "With --method idf: find every common part that contains a ball of this radius, "
               "in metres (default: as fine as the samples)",
       .value_name = "S"},
      options.overlap, {1e-12, 1e12});
}

IdfReport find_idf_contacts(const Shape& a, const Pose& world_from_a, const Shape& b,
                            const Pose& world_from_b, const IdfOptions& options, double margin,
                            bool gpu, std::uint32_t max_contacts, Threads threads) {
  const IdfScene scene{{shape_of(a, "A"), shape_of(b, "B")},
                       {{.shape = 0, .world_from_body = world_from_a},
                        {.shape = 1, .world_from_body = world_from_b}},
                       {{0, 1}}};
  IdfReport report;
  IdfSettings& s = report.settings;
  if (options.samples >= 0) s.samples = options.samples;
  if (margin > 0) s.margin = margin;
  if (options.overlap >= 0) s.resolution = options.overlap;
  s.max_contacts = std::min<std::uint32_t>(max_contacts, kMostIdfContacts);
  s.threads = threads;
  if (!gpu || !ask_gpu(scene, report)) {
    report.device = "cpu";
    report.seconds = time_of([&] {
      IdfScratch scratch;
      intersect_fields(scene.shapes, scene.bodies, scene.pairs, s, report.result, scratch);
    });
  }
  if (margin == 0) drop_gaps(report);
  return report;
}

void print_report(const IdfReport& r) {
  Facts facts{{"status", status_of(r)}, {"device", r.device}};
  if (!r.result.contacts.empty()) add_contact(facts, r.result.contacts.front(), r.unit);
  facts.emplace_back(
      "contacts", fmt::format("{} of {} particles that arrived, {} in all",
                              r.result.contacts.size(), r.result.arrived[0], r.result.particles));
  if (r.measured)
    add_distance(facts, *r.measured, r.unit);
  else if (r.nearest && r.nearest->status == ApproachStatus::kDone)
    facts.emplace_back("distance", r.unit.format(r.nearest->distance));
  if (std::isfinite(r.result.resolution[0]))
    facts.emplace_back("unseen", "nothing in common that holds a ball of " +
                                     r.unit.format(r.result.resolution[0]));
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
         {"samples_per_side", r.settings.samples},
         {"particles", r.result.particles},
         {"arrived", r.result.arrived[0]},
         {"blind_depth", nullptr},
         {"warnings", r.warnings},
         {"seconds", r.seconds}};
  if (r.nearest && r.nearest->status == ApproachStatus::kDone) {
    j["min_distance"] = r.nearest->distance;
    j["min_distance_time"] = 0;
  }
  if (r.measured) add_distance(j, *r.measured);
  if (std::isfinite(r.result.resolution[0])) j["blind_depth"] = r.result.resolution[0];
  if (touches) {
    j["time_of_contact"] = 0;
    j["intervals"].push_back({0, 1});
  }
  return j;
}

}  // namespace isotact::tool

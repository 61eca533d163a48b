// Certificates: all that are written check, falsified ones do not; sizes and times.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "isotact/queries/certificate/certify.h"

#include "exact_report.h"
#include "queries/certificate/certificate_cases.h"

namespace isotact::bench {
namespace {

using namespace certificate_cases;

template <typename Work>
double milliseconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

struct Written {
  CertifyResult result{};
  CertificateCheck check{};
  std::size_t bytes = 0;
  double write_ms = 0, check_ms = 0;
};

// Through the text, as another program reads it.
Written write_and_check(const Case& c) {
  Written w;
  w.write_ms = milliseconds_of([&] { w.result = c.certify(); });
  if (w.result.status != CertifyStatus::kFree && w.result.status != CertifyStatus::kContact)
    return w;
  const std::string text = encode_certificate(w.result.certificate);
  w.bytes = text.size();
  const Certificate read = decode_certificate(text, "certificate");
  w.check_ms = milliseconds_of([&] { w.check = check_certificate(read, c.a, c.b); });
  return w;
}

// What was written, beside distances of all pairs at a few times.
bool is_true(const Case& c, const Written& w) {
  const Certificate& said = w.result.certificate;
  if (said.claim == CertificateClaim::kContained) return true;
  const bool is_free = said.claim == CertificateClaim::kFree;
  const double last = is_free ? 1 : said.free_until;
  for (int i = 0; i <= 8 && last > 0; ++i) {
    const double distance = nearest_at(c.a, c.b, said.motion, last * i / 8).distance;
    if (is_free ? !(distance >= said.clearance) : !(distance > 0)) return false;
  }
  return is_free ||
         nearest_at(c.a, c.b, said.motion, said.contact_time).distance <= said.distance_tolerance;
}

void check_random_cases(const Options& options, Report& report) {
  const int count = options.count > 0 ? options.count
                    : options.quick   ? 100
                    : options.full    ? 10000
                                      : 1000;
  std::map<std::string, int> kinds;
  std::map<std::string, std::pair<int, int>> falsified;  // tried, refused
  std::vector<double> write_ms, check_ms, ratio, intervals, bytes;
  for (int i = 0; i < count; ++i) {
    // Each case has a stream of its own, so that one can be repeated alone.
    Random random(static_cast<std::uint64_t>(options.seed), static_cast<std::uint64_t>(i));
    const Case c = random_case(random);
    const Written w = write_and_check(c);
    const std::string detail = fmt::format("seed {}, case {}", options.seed, i);
    if (w.result.status == CertifyStatus::kGaveUp) {
      ++kinds["gave up"];
      report.check(!w.result.reason.empty(), "giving up has a reason", detail);
      continue;
    }
    ++kinds[std::string(isotact::name(w.result.certificate.claim))];
    report.check(w.check.holds, "every certificate that is written checks",
                 w.check.holds ? "" : detail + ": " + w.check.reason);
    report.check(is_true(c, w), "what certificates say is true", detail);
    write_ms.push_back(w.write_ms);
    check_ms.push_back(w.check_ms);
    intervals.push_back(static_cast<double>(w.check.intervals));
    bytes.push_back(static_cast<double>(w.bytes));
    for (const Falsehood falsehood : kFalsehoods) {
      const std::optional<Falsified> f = falsify(falsehood, c, w.result, random);
      if (!f) continue;
      auto& [tried, refused] = falsified[std::string(name(falsehood))];
      ++tried;
      const bool holds = check_certificate(f->certificate, f->a, f->b).holds;
      if (!holds) ++refused;
      report.check(!holds, "no falsified certificate checks",
                   fmt::format("{}: {}", detail, name(falsehood)));
    }
  }
  Table claims = report.table({.id = "exact-certify-claims",
                               .title = "Certificates of random motions",
                               .columns = {{"claim", Of::kKey}, {"cases", Of::kOurs}}});
  for (const auto& [kind, cases] : kinds) claims.row({kind, cases});
  int total = 0;
  Table false_ones = report.table(
      {.id = "exact-certify-falsified",
       .title = "Falsified certificates",
       .columns = {{"falsified", Of::kKey}, {"tried", Of::kOurs}, {"refused", Of::kOurs}},
       .note = "Hashes were made right again where the name says sealed."});
  for (const auto& [kind, counts] : falsified) {
    false_ones.row({kind, counts.first, counts.second});
    total += counts.first;
  }
  report.json["certify"] = {{"cases", count}, {"falsified", total}, {"claims", kinds}};
  if (write_ms.empty()) return;
  Table times = report.table({.id = "exact-certify-random",
                              .title = "Sizes and times of these certificates",
                              .columns = {{"of all cases", Of::kKey},
                                          {"median", Of::kOurs},
                                          {"p99", Of::kOurs},
                                          {"most", Of::kOurs}}});
  for (const auto& [what, values] : {std::pair{"writing, ms", &write_ms},
                                     {"checking, ms", &check_ms},
                                     {"intervals", &intervals},
                                     {"bytes", &bytes}})
    times.row({what, quantile(*values, 0.5), quantile(*values, 0.99), quantile(*values, 1)});
}

BodyMotion between(const Pose& from, const Pose& to) { return {.from = from, .to = to}; }

std::vector<std::pair<std::string, Case>> make_parts(bool quick) {
  std::vector<std::pair<std::string, Case>> parts;
  const TriangleMesh gear = make_shape("gear", {}), bolt = make_shape("bolt", {});
  const double size = size_of(gear);
  parts.push_back({"gear passes a gear",
                   {.a = gear,
                    .b = gear,
                    .motion_of_a = between({.translation = {-2 * size, 0, 1.1 * size}},
                                           {.rotation = rotation_about({0, 1, 0}, 2),
                                            .translation = {2 * size, 0, 1.1 * size}})}});
  parts.push_back({"gear meets a gear",
                   {.a = gear,
                    .b = gear,
                    .motion_of_a = between({.translation = {-2 * size, 0, 0.2 * size}},
                                           {.rotation = rotation_about({1, 1, 0}, 2)})}});
  const TriangleMesh piston = make_cylinder({.radius = 0.0499, .height = 0.05, .segments = 64});
  TriangleMesh bore = make_cylinder({.radius = 0.05, .height = 0.3, .segments = 64});
  std::erase_if(bore.triangles, [&](const Triangle& t) {
    const float y = bore.positions[t[0]].y;
    return bore.positions[t[1]].y == y && bore.positions[t[2]].y == y;
  });
  parts.push_back(
      {"piston slides in its bore",
       {.a = piston,
        .b = bore,
        .motion_of_a = between({.translation = {0, -0.1, 0}}, {.translation = {0, 0.1, 0}})}});
  const double reach = size_of(bolt);
  parts.push_back({"bolt turns beside a knot",
                   {.a = bolt,
                    .b = make_knot({.segments = quick ? 96 : 384, .tube_segments = quick ? 8 : 32}),
                    .motion_of_a = between({.translation = {1.2 + 0.1 * reach, 0, 0}},
                                           {.rotation = rotation_about({1, 0, 1}, 3),
                                            .translation = {0, 0, 1.2 + 0.1 * reach}})}});
  return parts;
}

void time_parts(const Options& options, Report& report) {
  Table table = report.table({.id = "exact-certify-parts",
                              .title = "Certificates of parts",
                              .columns = {{"motion", Of::kKey},
                                          {"share of least distance", Of::kKey},
                                          {"triangles", Of::kKey},
                                          {"claim", Of::kOurs},
                                          {"cells", Of::kOurs},
                                          {"intervals", Of::kOurs},
                                          {"kB", Of::kOurs},
                                          {"write", Of::kOurs, "ms"},
                                          {"check", Of::kOurs, "ms"}}});
  for (auto& [name, c] : make_parts(options.quick))
    for (const double share : {0.5, 0.9}) {
      c.request.share = share;
      const Written w = write_and_check(c);
      report.check(w.check.holds, "certificates of parts check",
                   name + ": " + w.result.reason + w.check.reason);
      const bool is_free = w.result.certificate.claim == CertificateClaim::kFree;
      if (!is_free && share != 0.5) continue;
      table.row({name, cell_if(is_free, share), c.a.triangles.size() + c.b.triangles.size(),
                 isotact::name(w.result.certificate.claim), w.check.cells, w.check.intervals,
                 static_cast<double>(w.bytes) / 1e3, w.write_ms, w.check_ms});
    }
}

}  // namespace

void bench_certify(const Options& options, Report& report) {
  time_parts(options, report);
  check_random_cases(options, report);
}

}  // namespace isotact::bench

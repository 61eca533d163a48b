// isotact certify: writes a proof that two moving bodies stay apart, or when they first touch, and
// checks such proofs.
#include "isotact/queries/certificate/certify.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "isotact/asset/load_shape.h"
#include "isotact/base/error.h"

#include "command.h"
#include "input/mesh_input.h"
#include "input/query_options.h"
#include "input/shape_input.h"

namespace isotact::tool {
namespace {

struct CertifyOptions {
  CommonOptions common;
  MovingBodyOptions a, b;
  std::string output, check, unit, motion = "rates", print_unit = "m";
  double clearance = kNotSaid, distance_tolerance = kNotSaid, share = CertifyRequest{}.share,
         time_tolerance = CertifyRequest{}.time_tolerance;
  int degree = 3, max_intervals = static_cast<int>(CertifyRequest{}.max_intervals);

  LengthUnit length_unit() const {
    QueryOptions query;
    query.print_unit = print_unit;
    return query.unit();
  }
};

// A check takes these from the certificate.
const std::vector<std::string> kWritingOptions{
    "--pose-a", "--to-pose-a", "--pivot-a", "--pose-b",    "--to-pose-b", "--pivot-b",
    "--motion", "--degree",    "-o",        "--clearance", "--share",     "--max-intervals"};

// A unit that is given must do something.
void refuse_unit_of_assets(const std::string& unit, const std::string& a, const std::string& b) {
  if (is_asset(a) && is_asset(b))
    refuse_unit(unit, "no mesh file is read, and assets are in metres");
}

TriangleMesh read_triangles(const std::string& file, const std::string& unit,
                            std::vector<std::string>& warnings) {
  std::error_code missing;
  if (!std::filesystem::exists(file, missing) && parse_solid(file))
    throw UsageError(fmt::format(
        "'{}': a simple solid has no triangles to certify; give a mesh (isotact make)", file));
  if (is_asset(file)) {
    const Asset asset = load_asset(file);
    if (!asset.mesh)
      throw Error({.file = file}, "has no triangles to certify: build it without --no-mesh");
    return asset.mesh->mesh();
  }
  LoadedMesh loaded = load_mesh(file, unit);
  print_warnings(file, loaded.warnings);
  for (const std::string& warning : loaded.warnings)
    warnings.push_back(fmt::format("{}: {}", file, warning));
  return std::move(loaded.mesh);
}

template <typename Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What both halves of the verb print.
struct CertifyReport {
  Certificate certificate{};
  bool has_certificate = false;
  std::string status, reason{};
  CertificateCheck check{};
  const CertifyResult* written = nullptr;
  std::string input{}, output{};
  std::uint64_t bytes = 0;
  double seconds = 0, check_seconds = 0;
  std::vector<std::string> warnings{};
  LengthUnit unit{};
};

std::string hex_of(const CertificateHash& hash) {
  return fmt::format("{:016x}{:016x}", hash[0], hash[1]);
}

Json to_json(const CertifyReport& r) {
  const Certificate& c = r.certificate;
  const bool is_contact = r.has_certificate && c.claim == CertificateClaim::kContact;
  const auto if_said = [](bool said, auto value) { return said ? Json(value) : Json(); };
  const bool is_free = r.has_certificate && c.claim == CertificateClaim::kFree;
  const bool has_distance = r.written != nullptr && r.written->distance > 0;
  Json j{{"status", r.status}};
  j["certifies"] = if_said(r.has_certificate, name(c.claim));
  j["holds"] = if_said(r.has_certificate, r.check.holds);
  j["why_not"] = if_said(!r.reason.empty(), r.reason);
  j["clearance"] = if_said(is_free, c.clearance);
  j["free_until"] = if_said(is_contact, c.free_until);
  j["time_of_contact"] =
      is_contact ? Json(c.contact_time)
                 : if_said(r.has_certificate && c.claim == CertificateClaim::kContained, 0);
  j["time_tolerance"] = if_said(is_contact, c.time_tolerance);
  j["distance_tolerance"] = if_said(is_contact, c.distance_tolerance);
  j["motion"] = if_said(r.has_certificate, name(c.motion.model));
  j["mesh_a"] = if_said(r.has_certificate, c.a.file);
  j["mesh_b"] = if_said(r.has_certificate, c.b.file);
  j["hash_a"] = if_said(r.has_certificate, hex_of(c.a.hash));
  j["hash_b"] = if_said(r.has_certificate, hex_of(c.b.hash));
  // A check that fails may end before it knows them.
  const bool holds = r.has_certificate && r.check.holds;
  j["closed_a"] = if_said(holds, r.check.a_is_closed);
  j["closed_b"] = if_said(holds, r.check.b_is_closed);
  j["proof_cells"] = if_said(holds, r.check.cells);
  j["proof_intervals"] = if_said(holds, r.check.intervals);
  j["rounding"] = if_said(holds, r.check.rounding);
  j["distance"] = has_distance ? Json(r.written->distance) : Json();
  j["lower_bound"] = has_distance ? Json(r.written->lower_bound) : Json();
  j["input"] = if_said(!r.input.empty(), r.input);
  j["output"] = if_said(!r.output.empty(), r.output);
  j["bytes"] = if_said(r.has_certificate, r.bytes);
  j["warnings"] = r.warnings;
  j["check_seconds"] = if_said(r.has_certificate, r.check_seconds);
  j["seconds"] = r.seconds;
  return j;
}

std::string claim_of(const Certificate& c, const LengthUnit& unit) {
  switch (c.claim) {
    case CertificateClaim::kFree:
      return c.clearance > 0
                 ? fmt::format("free by at least {} at all times", unit.format(c.clearance))
                 : "free at all times";
    case CertificateClaim::kContact:
      return c.free_until > 0
                 ? fmt::format("first contact after {:.9g}, at {:.9g} to {}", c.free_until,
                               c.contact_time, unit.format(c.distance_tolerance))
                 : fmt::format("contact at {:.9g} to {}", c.contact_time,
                               unit.format(c.distance_tolerance));
    case CertificateClaim::kContained:
      return fmt::format("at the beginning, a part of {} lies inside of {}",
                         c.inner == Body::kA ? 'A' : 'B', c.inner == Body::kA ? 'B' : 'A');
  }
  return {};
}

void print_report(const CertifyReport& r) {
  const Certificate& c = r.certificate;
  const bool is_checked_file = r.written == nullptr;
  Facts facts;
  if (is_checked_file) facts.emplace_back("certificate", r.check.holds ? "holds" : "does not hold");
  facts.emplace_back("claim", claim_of(c, r.unit));
  if (!r.reason.empty()) facts.emplace_back("reason", r.reason);
  if (r.written != nullptr && r.written->distance > 0)
    facts.emplace_back("least distance",
                       fmt::format("{} at {:.6g}", r.unit.format(r.written->distance),
                                   r.written->time_of_distance));
  // A check that fails may end before it knows them.
  const auto describe = [&](const std::string& file, bool is_closed) {
    if (!r.check.holds) return file;
    return file + (is_closed ? ", closed: its inside counts" : ", open: its surface counts");
  };
  facts.emplace_back("A", describe(c.a.file, r.check.a_is_closed));
  facts.emplace_back("B", describe(c.b.file, r.check.b_is_closed));
  facts.emplace_back("motion", std::string(name(c.motion.model)));
  if (r.check.holds)
    facts.emplace_back(
        "proof", fmt::format("{} and {}, {} bytes", format_count(r.check.intervals, "interval"),
                             format_count(r.check.cells, "cell"), format_count(r.bytes)));
  if (!is_checked_file) facts.emplace_back("written to", r.output);
  facts.emplace_back("time", is_checked_file ? fmt::format("{:.3g} s", r.check_seconds)
                                             : fmt::format("{:.3g} s, and {:.3g} s to check it",
                                                           r.seconds, r.check_seconds));
  print_facts(facts);
}

// Of --check, and for what was written just now.
CertificateCheckSettings check_settings_of(const CertifyOptions& options) {
  CertificateCheckSettings settings{.time_tolerance = options.time_tolerance};
  if (!std::isnan(options.distance_tolerance))
    settings.distance_tolerance = options.distance_tolerance;
  return settings;
}

void run_check(const CertifyOptions& options) {
  refuse_given(kWritingOptions, "--check reads the certificate, which has them");
  CertifyReport report{.has_certificate = true, .status = "", .unit = options.length_unit()};
  report.input = options.check;
  report.certificate = read_certificate(options.check);
  report.bytes = encode_certificate(report.certificate).size();
  const Certificate& c = report.certificate;
  report.status = c.claim == CertificateClaim::kFree ? "free" : "contact";
  const std::string &file_a = options.a.file.empty() ? c.a.file : options.a.file,
                    &file_b = options.b.file.empty() ? c.b.file : options.b.file;
  refuse_unit_of_assets(options.unit, file_a, file_b);
  const TriangleMesh a = read_triangles(file_a, options.unit, report.warnings),
                     b = read_triangles(file_b, options.unit, report.warnings);
  report.check_seconds =
      seconds_of([&] { report.check = check_certificate(c, a, b, check_settings_of(options)); });
  report.reason = report.check.reason;
  if (!report.check.holds && c.a.hash != c.b.hash && hash_triangles(a) == c.b.hash &&
      hash_triangles(b) == c.a.hash)
    report.reason = fmt::format("A and B are swapped: give {} first", file_b);
  options.common.json ? print_json(to_json(report)) : print_report(report);
  if (report.check.holds) return;
  fmt::print(stderr, "isotact: error: {}: does not hold: {}\n", options.check, report.reason);
  throw AlreadyReported{};
}

CertifyRequest request_of(const CertifyOptions& options) {
  CertifyRequest request{.model = *find_motion_model(options.motion),
                         .degree = options.degree,
                         .share = options.share,
                         .time_tolerance = options.time_tolerance,
                         .file_a = options.a.file,
                         .file_b = options.b.file,
                         .max_intervals = static_cast<std::uint32_t>(options.max_intervals)};
  if (!std::isnan(options.clearance)) request.clearance = options.clearance;
  return request;
}

void run_write(const CertifyOptions& options) {
  if (options.a.file.empty() || options.b.file.empty() || options.output.empty())
    throw UsageError("needs two bodies A and B and -o FILE, or --check FILE");
  if (options.output == "-") throw UsageError("results go to stdout: -o needs a file");
  for (const std::string* input : {&options.a.file, &options.b.file})
    refuse_same_file(*input, options.output);
  if (options.motion != "polynomial")
    refuse_given({"--degree"}, "only --motion polynomial has one");
  if (options.motion == "straight" || options.motion == "screw")
    refuse_given({"--pivot-a", "--pivot-b"}, "only --motion rates and polynomial have pivots");
  if (!std::isnan(options.clearance)) refuse_given({"--share"}, "--clearance says what to prove");
  refuse_given({"--distance-tolerance"}, "it says what --check accepts");
  const BodyMotion of_a = motion_of(options.a, "a"), of_b = motion_of(options.b, "b");
  CertifyReport report{.status = "", .unit = options.length_unit()};
  refuse_unit_of_assets(options.unit, options.a.file, options.b.file);
  const TriangleMesh a = read_triangles(options.a.file, options.unit, report.warnings),
                     b = read_triangles(options.b.file, options.unit, report.warnings);
  CertifyResult result;
  report.seconds = seconds_of([&] { result = certify(a, of_a, b, of_b, request_of(options)); });
  report.written = &result;
  report.reason = result.reason;
  if (result.status == CertifyStatus::kCloser || result.status == CertifyStatus::kGaveUp) {
    report.status = result.status == CertifyStatus::kCloser ? "closer" : "gave_up";
    if (options.common.json) print_json(to_json(report));
    fmt::print(stderr, "isotact: error: no certificate: {}\n", result.reason);
    throw AlreadyReported{};
  }
  report.status = result.status == CertifyStatus::kFree ? "free" : "contact";
  // What is checked is what will be read.
  const std::string text = encode_certificate(result.certificate);
  report.certificate = decode_certificate(text, options.output);
  report.has_certificate = true;
  report.bytes = text.size();
  report.check_seconds = seconds_of([&] {
    report.check = check_certificate(report.certificate, a, b, check_settings_of(options));
  });
  if (!report.check.holds)
    throw Error("no certificate was written: it does not hold: " + report.check.reason);
  write_certificate(options.output, report.certificate);
  report.output = options.output;
  options.common.json ? print_json(to_json(report)) : print_report(report);
}

}  // namespace

void add_certify(CommandLine& line) {
  auto options = std::make_shared<CertifyOptions>();
  Command command = line.add_command(
      "certify", "Prove that two moving bodies stay apart, or when they first touch");
  command.set_examples(
      "Examples:\n"
      "  isotact certify gear.stl rack.stl --to-pose-a \"axis=0,0,1,30\" --unit mm -o gear.proof\n"
      "  isotact certify a.obj b.obj --to-pose-b \"xyz=0,0,2\" --clearance 0.001 -o ab.proof\n"
      "  isotact certify --check ab.proof a.obj b.obj");
  command.add_text({.names = "A", .help = "A mesh, or an asset with its mesh"}, options->a.file);
  command.add_text({.names = "B", .help = "The other body"}, options->b.file);
  command.add_text({.names = "-o,--output", .help = "Certificate to write", .value_name = "FILE"},
                   options->output);
  command.add_text({.names = "--check",
                    .help = "Check this certificate. Its meshes are A and B, or, without these, "
                            "the files that it names",
                    .value_name = "FILE"},
                   options->check);
  add_moving_body(command, options->a, "a");
  add_moving_body(command, options->b, "b");
  command.add_text({.names = "--motion",
                    .help = "Motion between the poses: straight point paths, constant rates of "
                            "each body, one screw, or a polynomial (default: rates)",
                    .value_name = "straight|rates|screw|polynomial",
                    .choices = {"straight", "rates", "screw", "polynomial"}},
                   options->motion);
  command.add_whole(
      {.names = "--degree",
       .help = "With --motion polynomial: degree of the polynomial, 1 to 8 (default: 3)",
       .value_name = "N"},
      options->degree, {1, 8});
  command.add_length({.names = "--clearance",
                      .help = "Distance to prove: fail if the bodies come closer (default: a share "
                              "of the least distance). A smaller one needs fewer intervals",
                      .value_name = "LENGTH"},
                     options->clearance, {0, 1e12});
  command.add_number({.names = "--share",
                      .help = "Share of the least distance to prove, between 0 and 1 "
                              "(default: 0.9)",
                      .value_name = "SHARE"},
                     options->share, {1e-6, 1 - 1e-6});
  command.add_number({.names = "--time-tolerance",
                      .help = "Tolerance of a first contact, as a share of the motion; with "
                              "--check, the largest that is accepted (default: 1e-6)",
                      .value_name = "T"},
                     options->time_tolerance, {1e-12, 1});
  command.add_length({.names = "--distance-tolerance",
                      .help = "With --check: largest distance that is accepted as a contact "
                              "(default: what rounding may hide)",
                      .value_name = "LENGTH"},
                     options->distance_tolerance, {0, 1e12});
  command.add_whole({.names = "--max-intervals",
                     .help = "Give up beyond this many intervals (default: 1048576)",
                     .value_name = "N"},
                    options->max_intervals, {1, 1e8});
  command.add_text({.names = "--print-unit",
                    .help = "Unit of the lengths in text; JSON has metres (default: m)",
                    .value_name = "m|cm|mm|in",
                    .choices = {"m", "cm", "mm", "in"}},
                   options->print_unit);
  add_unit(command, options->unit);
  add_common_options(command, options->common);
  command.on_run([options] { options->check.empty() ? run_write(*options) : run_check(*options); });
}

}  // namespace isotact::tool

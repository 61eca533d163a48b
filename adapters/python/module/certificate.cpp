// Proofs that two moving meshes stay apart, or of when they first touch.
#include "isotact/queries/certificate/certificate.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isotact/base/error.h"
#include "isotact/queries/certificate/certify.h"

#include "long_work.h"
#include "module.h"
#include "query_words.h"
#include "shape_object.h"

namespace isotact::python {
namespace {

constexpr const char* kCertifyNames[] = {"free", "contact", "closer", "gave-up"};

// The triangles of a shape, or a mesh in any form. Proofs are about triangles.
std::shared_ptr<const TriangleMesh> to_triangles(const py::object& object, const char* name) {
  if (!py::isinstance<ShapeObject>(object)) return to_mesh(object, name);
  const Shape shape = py::cast<const ShapeObject&>(object).shape;
  const py::gil_scoped_release unlocked;
  if (shape.solid() || !(shape.parts().flat_mesh || shape.parts().mesh))
    throw Error(
        fmt::format("{}: certificates are about triangles, and this shape keeps none", name));
  return std::make_shared<const TriangleMesh>(shape.surface());
}

CertifyResult prove(const py::object& a, const py::object& b, const py::object& from_a,
                    const py::object& to_a, const py::object& from_b, const py::object& to_b,
                    const std::string& motion, int degree, const std::optional<double>& clearance,
                    double share, double time_tolerance, std::uint64_t max_tests) {
  const auto mesh_a = to_triangles(a, "a"), mesh_b = to_triangles(b, "b");
  const BodyMotion of_a = to_motion(from_a, to_a, "from_a", "to_a"),
                   of_b = to_motion(from_b, to_b, "from_b", "to_b");
  const CertifyRequest request{.model = to_motion_model(motion),
                               .degree = degree,
                               .clearance = clearance,
                               .share = share,
                               .time_tolerance = time_tolerance,
                               .max_tests = max_tests};
  CertifyResult result;
  run_long(py::bool_(false),
           [&](const Monitor&) { result = certify(*mesh_a, of_a, *mesh_b, of_b, request); });
  return result;
}

CertificateCheck check(const Certificate& c, const py::object& a, const py::object& b,
                       double time_tolerance, const std::optional<double>& distance_tolerance,
                       std::uint64_t max_tests) {
  const auto mesh_a = to_triangles(a, "a"), mesh_b = to_triangles(b, "b");
  CertificateCheck result;
  run_long(py::bool_(false), [&](const Monitor&) {
    result = check_certificate(c, *mesh_a, *mesh_b,
                               {.time_tolerance = time_tolerance,
                                .distance_tolerance = distance_tolerance,
                                .max_tests = max_tests});
  });
  return result;
}

std::string claim_in_words(const Certificate& c) {
  switch (c.claim) {
    case CertificateClaim::kFree:
      return fmt::format("apart by at least {:.9g} m all the time", c.clearance);
    case CertificateClaim::kContact:
      return fmt::format("first contact at {:.9g}", c.contact_time);
    case CertificateClaim::kContained:
      return "one is inside of the other at the start";
  }
  return "";
}

template <typename T>
py::object if_claimed(const Certificate& c, CertificateClaim claim, T value) {
  return c.claim == claim ? py::cast(value) : py::none();
}

void add_certificate_class(py::module_& m) {
  using C = Certificate;
  py::class_<C>(m, "Certificate",
                "A proof about two moving meshes that a small independent checker verifies.")
      .def_static("load", &read_certificate, py::arg("path"))
      .def(
          "save", [](const C& c, const std::filesystem::path& path) { write_certificate(path, c); },
          py::arg("path"))
      .def(
          "check", &check, py::arg("a"), py::arg("b"), py::kw_only(),
          py::arg("time_tolerance") = CertificateCheckSettings{}.time_tolerance,
          py::arg("distance_tolerance") = py::none(), py::arg("max_tests") = 0U,
          "Whether the claim is proved for these two meshes: a CertificateCheck. It trusts nothing "
          "but the meshes and itself.")
      .def_property_readonly(
          "claim", [](const C& c) { return std::string(name(c.claim)); },
          "'free', 'contact', or 'contained' (one is inside of the other at the start).")
      .def_property_readonly(
          "clearance",
          [](const C& c) { return if_claimed(c, CertificateClaim::kFree, c.clearance); },
          "Metres that they keep; None unless the claim is 'free'.")
      .def_property_readonly(
          "time",
          [](const C& c) { return if_claimed(c, CertificateClaim::kContact, c.contact_time); },
          "They touch at this time, from 0 to 1; None unless the claim is 'contact'.")
      .def_property_readonly(
          "free_until",
          [](const C& c) { return if_claimed(c, CertificateClaim::kContact, c.free_until); },
          "They are apart before this time; None unless the claim is 'contact'.")
      .def(py::pickle([](const C& c) { return encode_certificate(c); },
                      [](const std::string& text) {
                        return decode_certificate(text, "a pickled certificate");
                      }))
      .def("__eq__",
           [](const C& a, const py::object& b) {
             return py::isinstance<C>(b) &&
                    encode_certificate(a) == encode_certificate(py::cast<const C&>(b));
           })
      .def("__hash__", [](const C& c) { return py::hash(py::bytes(encode_certificate(c))); })
      .def("__repr__",
           [](const C& c) { return "<isotact.Certificate: " + claim_in_words(c) + ">"; });
}

void add_check_class(py::module_& m) {
  using C = CertificateCheck;
  py::class_<C>(m, "CertificateCheck", "The verdict of Certificate.check.")
      .def_readonly("holds", &C::holds)
      .def_readonly("reason", &C::reason, "Why it does not hold; empty if it does.")
      .def_readonly("a_is_closed", &C::a_is_closed)
      .def_readonly("b_is_closed", &C::b_is_closed,
                    "Of an open mesh only the surface counts: it has no inside.")
      .def_readonly("rounding", &C::rounding, "Metres that all proofs allow for.")
      .def_readonly("tests", &C::tests)
      .def("__bool__", [](const C& c) { return c.holds; })
      .def("__repr__", [](const C& c) {
        return c.holds ? std::string("<isotact.CertificateCheck: it holds>")
                       : "<isotact.CertificateCheck: it does not hold: " + c.reason + ">";
      });
}

void add_result_class(py::module_& m) {
  using R = CertifyResult;
  py::class_<R>(m, "CertifyResult", "Result of certify. Times are from 0 to 1.")
      .def_property_readonly(
          "status", [](const R& r) { return kCertifyNames[static_cast<std::size_t>(r.status)]; },
          "'free', 'contact', 'closer' (than the clearance that was asked for) or 'gave-up'.")
      .def_readonly("reason", &R::reason, "Of 'closer' and 'gave-up'.")
      .def_property_readonly(
          "certificate",
          [](const R& r) -> py::object {
            const bool has =
                r.status == CertifyStatus::kFree || r.status == CertifyStatus::kContact;
            return has ? py::cast(r.certificate) : py::none();
          },
          "The proof; None with 'closer' and 'gave-up'.")
      .def_readonly("lower_bound", &R::lower_bound)
      .def_readonly("distance", &R::distance,
                    "The least distance over the motion is between the two; 0 unless they stay "
                    "apart.")
      .def_readonly("time_of_distance", &R::time_of_distance)
      .def("__repr__", [](const R& r) {
        const char* const status = kCertifyNames[static_cast<std::size_t>(r.status)];
        return fmt::format("<isotact.CertifyResult: {}{}>", status,
                           r.reason.empty() ? "" : ": " + r.reason);
      });
}

}  // namespace

void add_certificates(py::module_& m) {
  add_check_class(m);
  add_certificate_class(m);
  add_result_class(m);
  m.def("certify", &prove, py::arg("a"), py::arg("b"), py::kw_only(),
        py::arg("from_a") = py::none(), py::arg("to_a") = py::none(),
        py::arg("from_b") = py::none(), py::arg("to_b") = py::none(), py::arg("motion") = "rates",
        py::arg("degree") = 3, py::arg("clearance") = py::none(), py::arg("share") = 0.9,
        py::arg("time_tolerance") = 1e-6, py::arg("max_tests") = 0U,
        "Proves that two moving meshes stay apart, or when they first touch. a, b: meshes in any "
        "form, or shapes that keep triangles. Poses and motions are those of continuous_collide. "
        "clearance: metres to prove; without it a share of the least distance is proved.");
}

}  // namespace isotact::python

"""Faults that exact answers must not survive: bounds of motions, planes, culling, depths, proofs.

Each has a name, a file, a piece of its text that occurs once, what replaces it, and the tests that
must then fail. scripts/mutate applies them one by one.
"""

MOTION = "src/isotact/queries/swept/mesh_motion.cpp"
SEARCH = "src/isotact/queries/swept/detail/motion_search.h"
PARTS = "src/isotact/queries/swept/detail/motion_parts.h"
CURVE = "src/isotact/queries/swept/motion.cpp"
PAIRS = "src/isotact/geometry/bvh/mesh_distance.cpp"
KERNEL = "src/isotact/geometry/bvh/detail/pair_kernel.h"
DEPTH = "src/isotact/queries/exact_depth.cpp"
DISTANCE = "src/isotact/queries/exact_distance.cpp"
BODY = "src/isotact/queries/exact_body.cpp"
ROUND = "src/isotact/queries/exact_round.cpp"
POINTS = "src/isotact/queries/collide_points.cpp"
FIELD_DISTANCE = "src/isotact/queries/distance.cpp"
TOUCH = "src/isotact/queries/exact_touch.cpp"
BATCH = "src/isotact/queries/batch.cpp"
EXACT_MOTION = "src/isotact/queries/exact_motion.cpp"
CHECKER = "src/isotact/queries/certificate/check_certificate.cpp"
PROOF = "src/isotact/queries/certificate/certificate_proof.cpp"
PATH = "src/isotact/queries/certificate/certificate_path.cpp"

QUERIES = "isotact_queries_tests"
GEOMETRY = "isotact_geometry_tests"
MOTIONS = (QUERIES, "Motion*:MeshMotion*:ExactMotion*")
DISTANCES = (QUERIES, "ExactDistance*:ExactDepth*:Collide*")
SIDES = (QUERIES, "ExactSides*:ExactRound*")
PROOFS = (QUERIES, "Certif*:ApartProof*:ProofSolid*")
NEAREST = (GEOMETRY, "MeshDistance*")

# name, file, text, replacement, tests
MUTATIONS = [
    # Motion bounds.
    ("bend: half of the deviation", SEARCH,
     "return curve_.bend(radius) * span.duration() * span.duration() / 8;",
     "return curve_.bend(radius) * span.duration() * span.duration() / 16;", MOTIONS),
    ("bend: linear in the duration, too small", SEARCH,
     "return curve_.bend(radius) * span.duration() * span.duration() / 8;",
     "return curve_.bend(radius) * span.duration() * span.duration() * span.duration() / 8;",
     MOTIONS),
    ("bend: none for triangles", SEARCH,
     "const double slack = bend_of(span, std::sqrt(radius_sq)) + rounding_;",
     "const double slack = rounding_;", MOTIONS),
    ("bend: none for boxes", SEARCH,
     "const double slack = bend + rounding_ + a.slack + b.slack;",
     "const double slack = rounding_ + a.slack + b.slack;", MOTIONS),
    ("bend: of the box's middle alone", SEARCH,
     "bend_of(span, length(b.center - curve_.pivot()) + b.radius() + b.slack)",
     "bend_of(span, length(b.center - curve_.pivot()))", MOTIONS),
    ("rates: no Coriolis term", CURVE,
     "return wa * wa * p + 2 * wb * (wa * p + v) + wb * wb * (p + c);",
     "return wa * wa * p + wb * wb * (p + c);", MOTIONS),
    ("rates: the distance of the pivots is left out", CURVE,
     "return wa * wa * p + 2 * wb * (wa * p + v) + wb * wb * (p + c);",
     "return wa * wa * p + 2 * wb * (wa * p + v) + wb * wb * p;", MOTIONS),
    ("screw: no radius", CURVE,
     "return length(cross(w, cross(w, x) + screw.shift)) + length_sq(w) * ball.radius;",
     "return length(cross(w, cross(w, x) + screw.shift));", MOTIONS),
    ("polynomial: no bend", CURVE,
     "most = std::max(most, length(map * ball.center) + std::sqrt(norm) * ball.radius);",
     "most = 0 * (length(map * ball.center) + std::sqrt(norm) * ball.radius);", MOTIONS),
    ("rounding: positions far from the origin are exact", SEARCH,
     "rounding_(curve_.rounding() +", "rounding_(-1 * curve_.rounding() +", MOTIONS),
    # Planes.
    ("planes: the further one of both ends", SEARCH,
     "return std::max(std::min(b0.lower, b1.lower) - a.upper,",
     "return std::max(std::max(b0.lower, b1.lower) - a.upper,", MOTIONS),
    ("planes: half-space, the first end alone", SEARCH,
     "return {std::min(first, last) - slack, a_.plane->normal,",
     "return {first - slack, a_.plane->normal,", MOTIONS),
    ("margin: of half its size", MOTION,
     "double cut() const override { return s_.margin; }",
     "double cut() const override { return 0.5 * s_.margin; }", MOTIONS),
    ("round solids: their error is no margin", EXACT_MOTION,
     "find_first(roles, {.margin = request.margin + radii + error,",
     "find_first(roles, {.margin = request.margin + 0.5 * radii + error,", MOTIONS),
    # Culling by boxes.
    ("boxes: two thirds of B's box", SEARCH,
     "for (int k = 0; k < 3; ++k) reach += std::abs(dot(turned, b.axis[k])) * b.half[k];\n"
     "        const double at = dot(n, middle);",
     "for (int k = 0; k < 2; ++k) reach += std::abs(dot(turned, b.axis[k])) * b.half[k];\n"
     "        const double at = dot(n, middle);", MOTIONS),
    ("boxes: one child of a node is left out", PARTS,
     "left_ = (1U << node.child_count) - 1;", "left_ = (1U << (node.child_count - 1)) - 1;",
     MOTIONS),
    ("boxes: one triangle of a block is left out", PARTS,
     "for (unsigned k = 0; k < kBlockWidth; ++k)\n        if (a.block",
     "for (unsigned k = 0; k + 1 < kBlockWidth; ++k)\n        if (a.block", MOTIONS),
    ("filter: no bend for blocks", SEARCH,
     "const double needed = cut() + bend + rounding_;",
     "const double needed = cut() + 0 * bend + rounding_;", MOTIONS),
    ("filter: no bend for children of A", SEARCH,
     "ChildFilter filter(node, cut() + bend + rounding_ + b.slack, distance);",
     "ChildFilter filter(node, cut() + 0 * bend + rounding_ + b.slack, distance);", MOTIONS),
    ("filter: no bend for children of B", SEARCH,
     "ChildFilter filter(node, cut() + bend + rounding_ + a.slack, distance);",
     "ChildFilter filter(node, cut() + 0 * bend + rounding_ + a.slack, distance);", MOTIONS),
    ("filter: children at the further end", PARTS,
     "above = e == 0 ? over : lesser(above, over);",
     "above = e == 0 ? over : greater(above, over);", MOTIONS),
    ("filter: triangles at their end alone", PARTS,
     "h.lower_b = e == 0 ? lower : lesser(h.lower_b, lower);", "h.lower_b = lower;", MOTIONS),
    ("boxes: points wait for shorter intervals", SEARCH,
     "const bool is_rounded = larger == 0 || travel <= 0x1p-16 * cut();",
     "const bool is_rounded = larger < 0;", MOTIONS),
    ("free times: without the slack", SEARCH,
     "const double over = (first - slack) * (1 - 0x1p-20) - cut();",
     "const double over = (first + 0 * slack) * (1 - 0x1p-20) - cut();", MOTIONS),
    # Bounds of least distances over a motion, and after a limit.
    ("approach: culls below the tolerance", MOTION,
     "double cut() const override { return result_.distance - tolerance_; }",
     "double cut() const override { return result_.distance - 8 * tolerance_; }", MOTIONS),
    ("approach: what is left out has no bound", MOTION,
     "void leave(double gap) override { lowest_ = std::min(lowest_, gap); }",
     "void leave(double) override {}", MOTIONS),
    ("limit: contact before the time it names", MOTION,
     "reached_ = span.from;", "reached_ = span.to;", MOTIONS),
    # Lower bounds in the search of pairs.
    ("pairs: what a limit left out has no bound", PAIRS,
     "0.0, std::min({result.distance, found.lowest_left, settings.max_distance}) - rounding);",
     "0.0, std::min({result.distance, settings.max_distance}) - rounding);", NEAREST),
    ("pairs: boxes of half the size", PAIRS,
     "reach_a += std::abs(placement.rotation[i][k]) * half_b[k];",
     "reach_a += 0.5 * std::abs(placement.rotation[i][k]) * half_b[k];", NEAREST),
    ("pairs: half of a child's reach", KERNEL,
     "const F gap = greater(greater(p, -p) - reach, F(0.0F));",
     "const F gap = greater(greater(p, -p) - reach * F(0.5F), F(0.0F));", NEAREST),
    ("pairs: boxes a 4096th further away", KERNEL,
     "const F slack(extent * 0x1p-19F);", "const F slack(extent * -0x1p-12F);", NEAREST),
    # Depths.
    ("depth: half of a box's radius", DEPTH,
     "double bound = near.distance + radius;", "double bound = near.distance + 0.5 * radius;",
     DISTANCES),
    ("depth: the bound of one surface alone", DISTANCE,
     "result.lower_bound = -std::max(of_a.bound, of_b.bound);",
     "result.lower_bound = -of_b.depth;", DISTANCES),
    ("depth: no bound after a limit", DEPTH,
     "best_.bound = std::max(heap_.front().bound, least_bound_);", "best_.bound = best_.depth;",
     DISTANCES),
    ("open meshes overlap what lies in them", DISTANCE,
     "if ((a_in_b && is_closed(b.shape)) || (b_in_a && is_closed(a.shape)))",
     "if (a_in_b || b_in_a)", DISTANCES),
    # Signs, round solids, bounds by the field.
    ("signs: stored triangles decide", BODY,
     "has_balanced_mesh(shape) && r.turned_components == 0 && r.consistent_components == 0 &&\n"
     "      r.holes == 0 &&",
     "has_balanced_mesh(shape) || r.turned_components == 0 || r.holes == 0 ||", SIDES),
    ("signs: nested parts are solid", BODY,
     "if (sides.nested == NestedRule::kEvenOdd)", "if (false)", SIDES),
    ("signs: shells have an inside", BODY, "if (is_shell(shape)) return false;", "", SIDES),
    ("round pairs: as if cores were outside", ROUND,
     "const double m = std::max({0.0, cores.distance - of_radius, of_radius - far.distance});",
     "const double m = cores.distance - of_radius;", SIDES),
    ("round pairs: the deepest is always on one", ROUND,
     "result.is_on_a = on_a.depth >= on_b.depth;", "result.is_on_a = true;", SIDES),
    ("rings: patches have no bulge", ROUND,
     "return 0.25 * ((ring_ + radius_) * a * a + radius_ * a * b + radius_ * b * b);",
     "return 0;", SIDES),
    ("fields: values are distances", POINTS,
     "if (least < 0) return least - (-least + near < band ? near : std::max(far, sparse));",
     "if (least < 0) return least;", SIDES),
    ("fields: points are the surface", FIELD_DISTANCE,
     "return {lower - tree.covering_radius(), upper};", "return {lower, upper};", SIDES),
    ("batches: no limits", BATCH, "r.max_tests > 0 || ", "", SIDES),
    # The checker of certificates.
    ("checker: any tolerance of time", CHECKER,
     "if (!(c_.time_tolerance <= settings_.time_tolerance))", "if (false)", PROOFS),
    ("checker: any tolerance of distance", CHECKER,
     "if (!(c_.distance_tolerance <= most))", "if (false)", PROOFS),
    ("proof: half of the bend", PROOF,
     "duration * duration * (kUp / 8)};", "duration * duration * (kUp / 16)};", PROOFS),
    ("proof: one end of an interval", PROOF,
     "std::max(std::min(least_along(n, d0), least_along(n, d1)) + least_along(back, f),",
     "std::max(least_along(n, d0) + least_along(back, f),", PROOFS),
    ("proof: boxes at one end", PROOF,
     "for (const AffineMap* map : {&moment.from, &moment.to}) {",
     "for (const AffineMap* map : {&moment.from}) {", PROOFS),
    ("proof: no Coriolis term", PATH,
     "constant_ = 2 * rate_f * speed + rate_f * rate_f * furthest;",
     "constant_ = rate_f * rate_f * furthest;", PROOFS),
    ("proof: the distance of the pivots is left out", PATH,
     "constant_ = 2 * rate_f * speed + rate_f * rate_f * furthest;",
     "constant_ = 2 * rate_f * speed;", PROOFS),
    ("checker: gaps between intervals", CHECKER,
     "if (time.from > reached) return false;", "", PROOFS),
    ("checker: intervals end early", CHECKER,
     "return reached >= last_time();", "return reached >= 0.999 * last_time();", PROOFS),
    ("checker: any mesh", CHECKER,
     "if (said.triangle_count == count && said.hash == hash_triangles(mesh)) return {};",
     "if (said.triangle_count == count) return {};", PROOFS),
    ("checker: any motion", CHECKER,
     "if (c_.motion_hash != hash_motion(c_.motion))", "if (false)", PROOFS),
    ("checker: contacts of any distance", CHECKER,
     "if (!(distance <= c_.distance_tolerance))", "if (!(distance <= 1e3))", PROOFS),
    ("checker: contacts at any time", CHECKER,
     "if (!(c_.contact_time - c_.free_until <= c_.time_tolerance))", "if (false)", PROOFS),
    ("checker: parts inside are free", CHECKER,
     "if (!reason && last_time() > 0) reason = check_apart(a, b, path);", "", PROOFS),
    ("checker: half of the clearance", CHECKER,
     "const double clearance = c_.claim == CertificateClaim::kFree ? c_.clearance : 0;",
     "const double clearance = c_.claim == CertificateClaim::kFree ? 0.5 * c_.clearance : 0;",
     PROOFS),
    ("samples: any point inside is a crossing", TOUCH,
     "field.value(x) > error || field.distance_bounds(x).lower > rounding", "length_sq(x) >= 0",
     (QUERIES, "Collide.Samples*")),
    ("samples: all parts are one", TOUCH,
     "body.part_corners[body.part_of[on_triangle.triangle]]", "body.part_corners[0]",
     (QUERIES, "Collide.Samples*")),
]

// Contacts, and the choices that all queries of pairs share.
#pragma once

#include <cstdint>

#include "isotact/base/vec.h"
#include "isotact/export.h"

namespace ISOTACT_PUBLIC isotact {

enum class Body : std::uint8_t { kA, kB };

// Whose points meet whose field.
enum class Roles : std::uint8_t {
  kBoth,       // every role that the two shapes can take; one at least must be possible
  kPointsOfA,  // in the field of B
  kPointsOfB,  // in the field of A
};

// How a query finds contacts.
enum class Method : std::uint8_t {
  kAutomatic,          // collide and distance: kPoints. continuous_collide: kSwept
  kPoints,             // points of each body in the field of the other (SSL14)
  kIntersectionField,  // particles move onto the surface of the common part (KGM)
  kDepthMap,           // both bodies are drawn into one orthographic box (FAB)
  kSwept,              // points move along their paths through the field (XB14)
};

// Whether fields or triangles decide. (FieldSettings::accuracy is a length, for building fields.)
enum class Accuracy : std::uint8_t {
  kBest,   // kExact if both shapes keep their triangles or are simple solids, else kField
  kField,  // fields and points: microseconds, with an error of about a cell
  kExact,  // the triangles; an Error for shapes that do not keep them
};

// How much a query finds.
enum class Mode : std::uint8_t {
  kAll,    // every interval inside, of every segment or point; every contact
  kFirst,  // at most one, of length 0, at the first time inside; the search ends there
  kAny,    // the same at any time inside: the cheapest answer of yes or no
};

// In the world's frame, metres.
struct Contact {
  Vec3 position{};    // midway between the two points
  Vec3 point_on_a{};  //
  Vec3 point_on_b{};  //
  Vec3 normal{};  // unit, from B towards A, as KGM has it. (FCL's goes from the first body to the
                  // second: the opposite)
  double depth = 0;            // positive where the bodies overlap, negative across a gap
  Body sampled_by = Body::kA;  // whose point found it
  std::uint32_t point = 0;     // of that body's pointshell, in the order of its tree
};

}  // namespace isotact

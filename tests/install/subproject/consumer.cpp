#include <cstdio>

#include <isotact/isotact.h>

// The modules are switched off, though their headers lie in the source folder.
#if ISOTACT_WITH_DYNAMICS || ISOTACT_WITH_SCENE
#error "isotact.h shows modules that are not built"
#endif
namespace isotact {
class World {};
}  // namespace isotact

int main() {
  const isotact::Shape ground = isotact::Shape::from_analytic(isotact::PlaneField{});
  const isotact::Shape ball = isotact::Shape::from_analytic(isotact::SphereField{.radius = 0.5});
  const isotact::CollideResult r =
      isotact::collide(ball, {.translation = {0, 0.45, 0}}, ground, {});
  std::printf("%s %.3f\n", r.contacts.empty() ? "free" : "contact", -r.distance);
}

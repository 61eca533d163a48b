// isotact._core: the library for Python. The package around it is in adapters/python/isotact.
#include "module.h"

PYBIND11_MODULE(_core, m) {
  using namespace isotact::python;
  m.doc() = "Collision detection and contact with signed distance fields: the compiled part.";
  add_base(m);
  add_mesh(m);
  add_field(m);
  add_shape(m);
  add_queries(m);
  add_batches(m);
  add_certificates(m);
  add_voxmap(m);
  add_gpu(m);
  add_world(m);
  add_scene(m);
}

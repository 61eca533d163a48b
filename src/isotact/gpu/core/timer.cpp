#include "isotact/gpu/core/timer.h"

#include <epoxy/gl.h>

namespace isotact {

GpuTimer::GpuTimer() { glCreateQueries(GL_TIMESTAMP, 2, queries_); }
GpuTimer::~GpuTimer() { glDeleteQueries(2, queries_); }
void GpuTimer::begin() { glQueryCounter(queries_[0], GL_TIMESTAMP); }
void GpuTimer::end() { glQueryCounter(queries_[1], GL_TIMESTAMP); }

double GpuTimer::milliseconds() const {
  GLuint64 times[2] = {};
  for (int i = 0; i < 2; ++i) glGetQueryObjectui64v(queries_[i], GL_QUERY_RESULT, &times[i]);
  return static_cast<double>(times[1] - times[0]) * 1e-6;
}

}  // namespace isotact

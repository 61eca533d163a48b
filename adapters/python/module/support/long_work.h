// Long work without the interpreter's lock: it shows progress, and Ctrl-C cancels it.
#pragma once

#include <functional>

#include <pybind11/pybind11.h>

#include "isotact/base/progress.h"

namespace isotact::python {

namespace py = pybind11;

// Runs the work on a thread of its own, and waits for it. Meanwhile signals are handled and
// `progress` is called from the calling thread: None for the package's own bar if there is somebody
// to see it, False for nothing, True for the bar in any case, or a callable that takes (task, done,
// total). If a signal's handler or the callable raises, the work is cancelled and the exception
// passes on. Exceptions of the work pass on as well.
void run_long(const py::object& progress, const std::function<void(const Monitor&)>& work);

// Lets a pending signal raise; for loops over pieces of a large batch. Needs the lock.
void handle_signals();

}  // namespace isotact::python

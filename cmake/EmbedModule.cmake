# cmake -DMODULE=file.wasm -DMISSING=why -DOUTPUT=file.cpp -P EmbedModule.cmake: writes the module's
# bytes as C++, or why there is none.
set(bytes "")
if(MODULE)
  file(READ ${MODULE} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
endif()
file(WRITE ${OUTPUT} "// Made from viewer/query by cmake/EmbedModule.cmake.
#include \"page/query_module.h\"

namespace isotact::tool {
namespace {
constexpr char kBytes[] = \"${bytes}\";
}
QueryModule query_module() {
  return {std::as_bytes(std::span(kBytes, sizeof(kBytes) - 1)), \"${MISSING}\"};
}
}  // namespace isotact::tool
")

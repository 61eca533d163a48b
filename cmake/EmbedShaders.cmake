# cmake -DSHADERS="a;b" -DOUTPUT=file.cpp -P EmbedShaders.cmake: a table of names and texts.
set(table "")
foreach(path IN LISTS SHADERS)
  file(READ ${path} text)
  get_filename_component(name ${path} NAME)
  string(APPEND table "    {\"${name}\", R\"shader(${text})shader\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from shaders and layout headers by cmake/EmbedShaders.cmake.
#include \"isotact/gpu/core/detail/shader_text.h\"

namespace isotact::detail {
namespace {
constexpr ShaderSource kShaders[] = {
${table}};
}  // namespace
std::span<const ShaderSource> shader_sources() { return kShaders; }
}  // namespace isotact::detail
")

# The shared library, from the objects of the static one: its name, what it shows, and the outside
# project, whose object file is linked again.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
string(REGEX REPLACE "^(0[.][0-9]+|[1-9][0-9]*)[.].*" "libisotact.so.\\1" expected ${VERSION})
if(NOT SONAME STREQUAL expected)
  message(FATAL_ERROR "its name is ${SONAME}; expected ${expected}")
endif()

get_filename_component(folder ${LIBRARY} DIRECTORY)
run(${CXX} ${WORK}/build/CMakeFiles/consumer.dir/main.cpp.o -o ${WORK}/with_shared_library ${LIBRARY}
  -Wl,-rpath,${folder})
run(${WORK}/with_shared_library)
check_answer("shared library")

run(${NM} -DC --defined-only ${LIBRARY})
string(REGEX MATCHALL "[^\n]* [TR] [^\n]+" shown "${output}")
list(LENGTH shown count)
if(count LESS 300)
  message(FATAL_ERROR "only ${count} functions are seen")
endif()
# Private headers declare these.
if(CXX MATCHES "g[+][+]|gcc" AND shown MATCHES "isotact::detail::(find_nearest|BvhKernels|plan_|mark_|JsonValue|kernels_for)")
  message(FATAL_ERROR "seen, but private: ${CMAKE_MATCH_0}")
endif()
message(STATUS "${count} functions are seen")

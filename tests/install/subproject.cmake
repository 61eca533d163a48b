# Isotact inside of another project, by add_subdirectory and by FetchContent (from a folder: tests
# fetch nothing).
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
foreach(how add_subdirectory FetchContent)
  set(folder ${WORK}/${how})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subproject -B ${folder} -DHOW=${how}
    -DISOTACT_SOURCE=${SOURCE} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=Debug
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16)
  run(${CMAKE_COMMAND} --build ${folder} --target base_consumer)
  run(${folder}/base_consumer)
  if(NOT output STREQUAL "${VERSION} 2\n")
    message(FATAL_ERROR "${how}: found '${output}'")
  endif()
  if(EXISTS ${folder}/isotact/cmake_install.cmake)
    file(READ ${folder}/isotact/cmake_install.cmake rules)
    if(rules MATCHES "libisotact")
      message(FATAL_ERROR "${how}: Isotact would be installed with the project")
    endif()
  endif()
endforeach()

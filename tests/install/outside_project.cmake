# Builds the outside project against the prefix twice: through find_package and through pkg-config.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
set(consumer ${CMAKE_CURRENT_LIST_DIR}/consumer)
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${consumer} -B ${WORK}/build -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=${CPU_FLAGS} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
check_answer("find_package")
if(EXISTS ${prefix}/${LIBDIR}/cmake/isotact/isotact_bulletTargets.cmake)
  run(${WORK}/build/bullet_consumer)
  if(NOT output MATCHES "^0\\.1[23]")
    message(FATAL_ERROR "bullet: expected a ring at rest at 0.12 or 0.13, found '${output}'")
  endif()
endif()

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(${PKG_CONFIG} --cflags --libs isotact)
separate_arguments(flags UNIX_COMMAND "${output}")
separate_arguments(cpu_flags UNIX_COMMAND "${CPU_FLAGS}")
run(${CXX} -std=c++20 -O1 ${cpu_flags} ${consumer}/main.cpp -o ${WORK}/with_pkg_config ${flags}
  -Wl,-rpath,${prefix}/${LIBDIR})
run(${WORK}/with_pkg_config)
check_answer("pkg-config")

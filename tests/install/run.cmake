# Installs the build tree and builds the outside project against it twice: through find_package and
# through pkg-config. Called as a CTest test with -D for each variable below.
foreach(variable BUILD SOURCE WORK CXX PKG_CONFIG LIBDIR CPU_FLAGS)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "run.cmake needs -D${variable}")
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGV}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(check_answer how)
  set(expected "2 48 2,1,2 1000\n")
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${how}: expected '${expected}', found '${output}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE}/consumer -B ${WORK}/build -DCMAKE_CXX_COMPILER=${CXX}
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
run(${CXX} -std=c++20 -O2 ${cpu_flags} ${SOURCE}/consumer/main.cpp -o ${WORK}/with_pkg_config
  ${flags})
run(${WORK}/with_pkg_config)
check_answer("pkg-config")

run(${prefix}/bin/isotact --version)

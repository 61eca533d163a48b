# cmake --install: headers as they lie, one library, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
set(isotact_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isotact)

install(TARGETS isotact EXPORT isotactTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT isotactTargets NAMESPACE isotact:: DESTINATION ${isotact_package_dir})

# Headers of the modules that were built; not private ones.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/isotact DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "isotact/*.h" REGEX "/src/isotact/[a-z]+$" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/include/isotact/config.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isotact)
get_property(isotact_modules GLOBAL PROPERTY ISOTACT_MODULES)
foreach(module IN LISTS isotact_modules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/isotact/${module}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isotact FILES_MATCHING PATTERN "*.h"
    PATTERN "detail" EXCLUDE PATTERN "shaders" EXCLUDE)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/adapters/fcl/isotact
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET isotact_bullet)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/adapters/bullet/isotact
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
endif()

# Adapters are components of the package, each with targets of its own: who does not ask for them
# does not need what they adapt. (Their files must not begin with "isotactTargets-": those are all
# read with isotactTargets.cmake.)
foreach(component bullet bullet_double)
  get_property(adapters GLOBAL PROPERTY ISOTACT_ADAPTERS_${component})
  if(adapters)
    install(TARGETS ${adapters} EXPORT isotact_${component}Targets
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT isotact_${component}Targets NAMESPACE isotact::
      DESTINATION ${isotact_package_dir})
  endif()
endforeach()

set(ISOTACT_NEEDS_EPOXY FALSE)
if(TARGET isotact_gpu)
  set(ISOTACT_NEEDS_EPOXY TRUE)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/isotactConfig.cmake.in
  ${PROJECT_BINARY_DIR}/isotactConfig.cmake INSTALL_DESTINATION ${isotact_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/isotactConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/isotactConfig.cmake
  ${PROJECT_BINARY_DIR}/isotactConfigVersion.cmake DESTINATION ${isotact_package_dir})

# Who links the static library links what it is made with.
set(ISOTACT_PC_REQUIRES fmt)
if(ISOTACT_THREADING STREQUAL "tbb")
  string(APPEND ISOTACT_PC_REQUIRES ", tbb")
endif()
if(TARGET isotact_gpu)
  string(APPEND ISOTACT_PC_REQUIRES ", epoxy")
endif()
set(ISOTACT_PC_PRIVATE "")
if(BUILD_SHARED_LIBS)
  set(ISOTACT_PC_PRIVATE .private)
endif()
file(RELATIVE_PATH ISOTACT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/isotact.pc.in ${PROJECT_BINARY_DIR}/isotact.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/isotact.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(ISOTACT_BUILD_TOOL)
  install(TARGETS isotact_tool DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(TARGET isotact_vdb)
    install(TARGETS isotact_vdb LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/isotact)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples
    ${PROJECT_SOURCE_DIR}/scenes DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(CODE "execute_process(COMMAND \$<TARGET_FILE:isotact_tool> completion bash
    OUTPUT_FILE \"${PROJECT_BINARY_DIR}/isotact.bash\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${PROJECT_BINARY_DIR}/isotact.bash RENAME isotact
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

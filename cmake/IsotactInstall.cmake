# cmake --install: headers as they lie, one library a module, a CMake package and a pkg-config file.
include(CMakePackageConfigHelpers)
set(isotact_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isotact)

get_property(isotact_modules GLOBAL PROPERTY ISOTACT_MODULES)
set(isotact_targets isotact)
set(ISOTACT_PC_LIBS "")
foreach(module IN LISTS isotact_modules)
  list(APPEND isotact_targets isotact_${module})
  string(PREPEND ISOTACT_PC_LIBS "-lisotact_${module} ")  # dependents first
endforeach()
string(STRIP "${ISOTACT_PC_LIBS}" ISOTACT_PC_LIBS)

install(TARGETS ${isotact_targets} EXPORT isotactTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT isotactTargets NAMESPACE isotact:: DESTINATION ${isotact_package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/isotact DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/adapters/bullet/isotact
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

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

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/isotactConfig.cmake.in
  ${PROJECT_BINARY_DIR}/isotactConfig.cmake INSTALL_DESTINATION ${isotact_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/isotactConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/isotactConfig.cmake
  ${PROJECT_BINARY_DIR}/isotactConfigVersion.cmake DESTINATION ${isotact_package_dir})

set(ISOTACT_PC_REQUIRES fmt)
if(ISOTACT_THREADING STREQUAL "tbb")
  string(APPEND ISOTACT_PC_REQUIRES ", tbb")
endif()
if(TARGET isotact_gpu)
  string(APPEND ISOTACT_PC_REQUIRES ", epoxy")
endif()
file(RELATIVE_PATH ISOTACT_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/isotact.pc.in ${PROJECT_BINARY_DIR}/isotact.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/isotact.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(ISOTACT_BUILD_TOOL)
  install(TARGETS isotact_tool DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(CODE "execute_process(COMMAND \$<TARGET_FILE:isotact_tool> completion bash
    OUTPUT_FILE \"${PROJECT_BINARY_DIR}/isotact.bash\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${PROJECT_BINARY_DIR}/isotact.bash RENAME isotact
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

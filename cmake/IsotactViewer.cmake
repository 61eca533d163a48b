# viewer/ becomes a source file of the tool and of the Python package: isotact_add_viewer. npm is asked for what the lock
# file names, once a build folder and again where that changes. Where there is no npm, or no registry
# to be reached, the tool is built without the page and says so; ISOTACT_WITH_VIEWER=ON makes that an
# error.
set(ISOTACT_VIEWER_SOURCE ${PROJECT_BINARY_DIR}/viewer/viewer_page.cpp)
set(made ${PROJECT_BINARY_DIR}/viewer/made)  # left out by a build that failed: the next one tries again

find_program(ISOTACT_NPM npm)
find_program(ISOTACT_NODE node)
set(missing "")
if(NOT ISOTACT_WITH_VIEWER)
  set(missing "it was switched off (ISOTACT_WITH_VIEWER)")
elseif(NOT ISOTACT_NPM OR NOT ISOTACT_NODE)
  set(missing "npm was not found when it was built (scripts/deps)")
else()
  execute_process(COMMAND ${ISOTACT_NODE} --version OUTPUT_VARIABLE node_version
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE "^v" "" node_version "${node_version}")
  if(node_version VERSION_LESS 18)
    set(missing "node ${node_version} was there when it was built, and 18 or newer is needed")
  endif()
endif()
if(missing AND ISOTACT_WITH_VIEWER STREQUAL "ON")
  message(FATAL_ERROR "ISOTACT_WITH_VIEWER is ON, but ${missing}")
endif()
isotact_part(viewer "${missing}")

file(GLOB_RECURSE viewer_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/*)
list(APPEND viewer_files
  ${PROJECT_SOURCE_DIR}/viewer/index.html ${PROJECT_SOURCE_DIR}/viewer/package.json
  ${PROJECT_SOURCE_DIR}/viewer/package-lock.json ${PROJECT_SOURCE_DIR}/viewer/tsconfig.json
  ${PROJECT_SOURCE_DIR}/viewer/vite.config.js)
add_custom_command(OUTPUT ${ISOTACT_VIEWER_SOURCE} ${made}
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/viewer -DTO=${PROJECT_BINARY_DIR}/viewer/work
          -DNPM=${ISOTACT_NPM} "-DMISSING=${missing}" -DREQUIRED=${ISOTACT_WITH_VIEWER}
          -DOUTPUT=${ISOTACT_VIEWER_SOURCE} -DMADE=${made}
          -P ${PROJECT_SOURCE_DIR}/cmake/BuildViewer.cmake
  DEPENDS ${viewer_files} ${PROJECT_SOURCE_DIR}/cmake/BuildViewer.cmake
  COMMENT "Building the page that plays runs" VERBATIM)
add_custom_target(isotact_viewer_page DEPENDS ${ISOTACT_VIEWER_SOURCE})

# isotact_add_viewer(target): compiles the page into a target of any folder.
function(isotact_add_viewer target)
  target_sources(${target} PRIVATE ${ISOTACT_VIEWER_SOURCE})
  # On its own: a unity batch would be compiled again with it.
  set_source_files_properties(${ISOTACT_VIEWER_SOURCE} PROPERTIES
    GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  add_dependencies(${target} isotact_viewer_page)
endfunction()

# cmake -DFROM=viewer -DTO=folder -DNPM=npm -DMISSING=why -DREQUIRED=ON|AUTO -DOUTPUT=file.cpp -DMADE=stamp
#       -P BuildViewer.cmake: builds the page in a folder of its own and writes it as C++.
cmake_minimum_required(VERSION 3.25)
set(page "")
set(given "${MISSING}")  # known before: nothing to be tried again

# Runs npm; sets MISSING where that fails. Offline, npm would try for minutes.
function(run_npm what)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env npm_config_update_notifier=false npm_config_fund=false
            npm_config_audit=false npm_config_fetch_retries=1 npm_config_fetch_timeout=30000
            npm_config_loglevel=error ${NPM} ${ARGN}
    WORKING_DIRECTORY ${TO} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output
    TIMEOUT 300)
  if(result EQUAL 0)
    return()
  endif()
  message("${output}")
  set(MISSING "${what} failed when it was built" PARENT_SCOPE)
endfunction()

if(NOT MISSING)
  file(REMOVE_RECURSE ${TO}/src)
  file(COPY ${FROM}/src ${FROM}/index.html ${FROM}/package.json ${FROM}/tsconfig.json
            ${FROM}/vite.config.js ${FROM}/package-lock.json DESTINATION ${TO})
  # Packages are fetched again only for another lock file.
  file(SHA256 ${FROM}/package-lock.json lock)
  set(fetched "")
  if(EXISTS ${TO}/fetched)
    file(READ ${TO}/fetched fetched)
  endif()
  if(NOT fetched STREQUAL lock)
    run_npm("npm ci" ci --ignore-scripts)
    if(NOT MISSING)
      file(WRITE ${TO}/fetched ${lock})
    endif()
  endif()
endif()
if(NOT MISSING)
  run_npm("npm run build" run build)
endif()
if(NOT MISSING)
  file(READ ${TO}/dist/index.html page)
endif()

file(REMOVE ${MADE})
if(MISSING AND REQUIRED STREQUAL "ON")
  message(FATAL_ERROR "The page that plays runs cannot be built: ${MISSING}")
elseif(MISSING)
  message("The page that plays runs is left out: ${MISSING}")
endif()

set(text "// Made from viewer/ by cmake/BuildViewer.cmake.
#include \"page/viewer_page.h\"

namespace isotact::tool {
ViewerPage viewer_page() { return {R\"isotact-page(${page})isotact-page\", \"${MISSING}\"}; }
}  // namespace isotact::tool
")
file(WRITE ${OUTPUT} "${text}")
if(page OR given)
  file(WRITE ${MADE} "")
endif()

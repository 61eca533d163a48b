# cmake -DFROM=tests/viewer -DTO=folder -DNPM=npm -P fetch.cmake: packages of the tests. Without a
# registry the build goes on, and the tests say that they are skipped.
cmake_minimum_required(VERSION 3.25)
file(COPY ${FROM}/package.json ${FROM}/package-lock.json DESTINATION ${TO})
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env npm_config_update_notifier=false npm_config_fund=false
          npm_config_audit=false npm_config_fetch_retries=1 npm_config_fetch_timeout=30000
          npm_config_loglevel=error ${NPM} ci --ignore-scripts
  WORKING_DIRECTORY ${TO} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 300)
if(result EQUAL 0)
  file(TOUCH ${TO}/fetched)
else()
  message("${output}playwright-core cannot be fetched: pages will not be tested")
endif()

# cmake -DPROGRAM=path -DNAME=prefix -DOUTPUT=file.cmake -P DiscoverSuites.cmake: one CTest case a
# suite of a GoogleTest program. (GoogleTest's own module makes one a test: then every test starts a
# process and builds again the fields that its suite shares.)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "[[;]|]" "" listed "${listed}")  # of type parameters: CMake's lists mind them
string(REPLACE "\n" ";" lines "${listed}")
set(suites "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z_][A-Za-z0-9_/]*)\\.")
    set(suite ${CMAKE_MATCH_1})
    list(APPEND suites ${suite})
    set(tests_of_${suite} 0)
  elseif(line MATCHES "^  [A-Za-z_]")
    math(EXPR tests_of_${suite} "${tests_of_${suite}} + 1")
  endif()
endforeach()
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} lists no tests")
endif()

# A suite counts as skipped, and is named at the end, where any of its tests was and none failed.
set(skipped [[listed below:
(\[  SKIPPED \] [^
]*
)+$]])
set(text "")
foreach(suite IN LISTS suites)
  string(APPEND text "add_test([==[${NAME}.${suite}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${suite}.*]==])
set_tests_properties([==[${NAME}.${suite}]==] PROPERTIES COST ${tests_of_${suite}} TIMEOUT 600
  SKIP_REGULAR_EXPRESSION [==[${skipped}]==]
  ENVIRONMENT [==[TSAN_OPTIONS=halt_on_error=1;UBSAN_OPTIONS=print_stacktrace=1]==])\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")

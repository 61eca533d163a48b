cmake_minimum_required(VERSION 3.25)

# Shared by the scripts of this folder: run(command...) leaves what it printed in `output`, and fails
# where the command does.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "failed (${code}): ${ARGV}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

# What tests/install/consumer prints.
function(check_answer how)
  set(expected "${VERSION} 2 48 2,1,2 1000 contact caught\n")
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "${how}: expected '${expected}', found '${output}'")
  endif()
endfunction()

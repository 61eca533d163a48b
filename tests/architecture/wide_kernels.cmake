cmake_minimum_required(VERSION 3.25)

# Kernels compiled for a wider processor must share nothing with other files: of two copies of an
# inline function the linker keeps one, and if it is the wide one, old machines stop with an illegal
# instruction. So no weak symbol of theirs may be defined by any other object.
# Called with -DNM=..., -DOBJECTS=... (of all modules)
function(weak_symbols object result)
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE text
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " [WVu] [^\n]+" symbols "${text}")
  set(${result} "${symbols}" PARENT_SCOPE)
endfunction()

list(FILTER OBJECTS EXCLUDE REGEX "\\.[gp]ch$")  # precompiled headers count as objects
set(wide "")
set(others "")
foreach(object IN LISTS OBJECTS)
  weak_symbols(${object} symbols)
  if(object MATCHES "_avx2")
    list(APPEND wide ${symbols})
  else()
    list(APPEND others ${symbols})
  endif()
endforeach()
list(LENGTH wide wide_count)
list(LENGTH others other_count)
if(wide_count EQUAL 0 OR other_count EQUAL 0)
  message(FATAL_ERROR "found ${wide_count} wide and ${other_count} other symbols: wrong objects?")
endif()
foreach(symbol IN LISTS wide)
  if(symbol IN_LIST others)
    message(FATAL_ERROR "compiled both for wide and for all processors:${symbol}")
  endif()
endforeach()

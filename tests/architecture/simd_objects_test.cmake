# Kernels compiled for a wider processor must share nothing with other files: of two copies of an
# inline function the linker keeps one, and if it is the wide one, old machines stop with an illegal
# instruction. So their objects may define no weak symbol.
# Called with -DNM=... and -DOBJECTS=...
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${NM} --defined-only ${object} OUTPUT_VARIABLE symbols
    COMMAND_ERROR_IS_FATAL ANY)
  if(NOT symbols MATCHES " T ")
    message(FATAL_ERROR "${object} defines no function: is it the right file?")
  endif()
  if(symbols MATCHES "[^\n]* [WVu] [^\n]*")
    message(FATAL_ERROR "${object} defines a weak symbol: ${CMAKE_MATCH_0}")
  endif()
endforeach()

# isotact_module(name DEPENDS modules... SOURCES files... PRIVATE_LINKS targets...)
# A module of the library: target isotact_<name>, alias isotact::<name>. Always static, for tests
# that reach private parts; users link isotact::isotact, which has the objects of all modules.
function(isotact_module name)
  cmake_parse_arguments(arg "" "" "DEPENDS;SOURCES;PRIVATE_LINKS" ${ARGN})
  set(target isotact_${name})
  add_library(${target} STATIC ${arg_SOURCES})
  add_library(isotact::${name} ALIAS ${target})
  isotact_compile(${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_BINARY_DIR}/include)
  foreach(module IN LISTS arg_DEPENDS)
    target_link_libraries(${target} PUBLIC isotact::${module})
  endforeach()
  target_link_libraries(${target} PRIVATE ${arg_PRIVATE_LINKS})
  isotact_precompile(${target})
  set_property(GLOBAL APPEND PROPERTY ISOTACT_MODULES ${name})
  set_property(GLOBAL APPEND PROPERTY ISOTACT_LINKS ${arg_PRIVATE_LINKS})
endfunction()

# isotact_library(target STATIC|SHARED): all modules that were built, as one library.
function(isotact_library target kind)
  get_property(modules GLOBAL PROPERTY ISOTACT_MODULES)
  get_property(links GLOBAL PROPERTY ISOTACT_LINKS)
  list(REMOVE_DUPLICATES links)
  list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:isotact_\\1>" OUTPUT_VARIABLE objects)
  # Precompiled headers count as objects.
  add_library(${target} ${kind} "$<FILTER:${objects},EXCLUDE,[.][gp]ch$>")
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME isotact EXPORT_NAME isotact)
  isotact_compile(${target})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE ${links})
  if(TARGET isotact_gpu)
    target_compile_definitions(${target} PUBLIC ISOTACT_HAS_GPU=1)
  endif()
  if(kind STREQUAL "SHARED")
    # Before 1.0 a minor version may change the binary interface.
    set(soversion ${PROJECT_VERSION_MAJOR})
    if(soversion EQUAL 0)
      set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    endif()
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion})
    if(NOT ISOTACT_SANITIZE)
      target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
  endif()
endfunction()

# isotact_part(name reason): what became of an optional part. An empty reason: it is built.
# Printed at the end of the configuration, and said by `isotact doctor`.
function(isotact_part name reason)
  set_property(GLOBAL APPEND PROPERTY ISOTACT_PARTS ${name})
  set_property(GLOBAL PROPERTY ISOTACT_PART_${name} "${reason}")
endfunction()

# isotact_choose(name found missing): whether to build an optional part, in ISOTACT_HAS_<NAME>, by
# its switch ISOTACT_WITH_<NAME>: ON, OFF, or AUTO (where `found` is true). `missing`: what to say
# where it is not. ON without what it needs is an error.
function(isotact_choose name found missing)
  string(TOUPPER ${name} upper)
  set(reason "")
  if(NOT ISOTACT_WITH_${upper})
    set(reason "switched off (ISOTACT_WITH_${upper})")
  elseif(NOT found)
    set(reason "${missing}")
    if(NOT ISOTACT_WITH_${upper} STREQUAL "AUTO")
      message(FATAL_ERROR "ISOTACT_WITH_${upper} is ON, but ${missing}")
    endif()
  endif()
  isotact_part(${name} "${reason}")
  set(has TRUE)
  if(reason)
    set(has FALSE)
  endif()
  set(ISOTACT_HAS_${upper} ${has} PARENT_SCOPE)
endfunction()

# How every target of ours is compiled. isotact_compile(target) applies it.

if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  find_program(CCACHE_PROGRAM ccache)
  if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Precompiled headers are only cached with these two relaxations.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  endif()
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

function(isotact_compile target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Only what installed headers declare is seen outside of a shared library (isotact/export.h).
    # clang minds the block in which a function is defined: there all of it is seen.
    set_target_properties(${target} PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
  # Contracted multiply-adds would give other bytes on other machines (docs/determinism.md).
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # gcc 12's straight-line vectoriser drops the rounding in double(float(x)) of two neighbours.
    target_compile_options(${target} PRIVATE -fno-tree-slp-vectorize)
  endif()
  if(ISOTACT_MARCH)
    target_compile_options(${target} PRIVATE -march=${ISOTACT_MARCH})
  endif()
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wunused)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False in gcc 12 on sums of strings (its bug 105329).
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict
      -Wno-stringop-overflow)
  endif()
  if(ISOTACT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  if(ISOTACT_ASSERTIONS)
    target_compile_options(${target} PRIVATE -UNDEBUG)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  endif()
  if(ISOTACT_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ISOTACT_SANITIZE}
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
    if(ISOTACT_SANITIZE MATCHES "address,undefined" AND NOT ISOTACT_BUILD_FUZZERS)
      # Checks at each use of a pointer that the address sanitizer also makes, in its way: a seventh
      # of the time it takes to compile. The fuzzers keep them.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,vptr)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${ISOTACT_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # gcc's flow-based warnings misread the code that its sanitizers insert.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized
        -Wno-stringop-overread)
    endif()
  endif()
  if(ISOTACT_BUILD_FUZZERS)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# For targets that are mostly the code of others (gtest, OpenVDB, CLI11 and JSON), which takes most
# of the time to compile: optimise them less, at `level` (as -O takes it) or, under sanitizers, g.
function(isotact_optimise_less target level)
  if(ISOTACT_SANITIZE)
    target_compile_options(${target} PRIVATE -Og)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -O${level})
  endif()
endfunction()

# What most files of the library include anyway, parsed once for all modules: a quarter of the time
# it takes to compile them. Each file still includes what it uses; scripts/lint compiles without
# this.
function(isotact_precompile target)
  if(NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  if(NOT TARGET isotact_pch)
    find_package(fmt REQUIRED)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cpp CONTENT "")
    add_library(isotact_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cpp)
    isotact_compile(isotact_pch)
    target_link_libraries(isotact_pch PRIVATE fmt::fmt)
    target_precompile_headers(isotact_pch PRIVATE <algorithm> <array> <atomic> <bit> <cassert>
      <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
      <memory> <mutex> <numeric> <optional> <span> <string> <string_view> <tuple> <unordered_map>
      <utility> <vector> <fmt/format.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM isotact_pch)
endfunction()

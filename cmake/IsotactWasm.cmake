# collide() for pages (viewer/query), compiled to WebAssembly by em++: a source file of the tool,
# ISOTACT_QUERY_SOURCE, with the module in it. Only what a query at rest needs is compiled, one file
# a module of the library. Where there is no em++ the tool is built without and says so;
# ISOTACT_WITH_WASM=ON makes that an error.
set(ISOTACT_QUERY_SOURCE ${PROJECT_BINARY_DIR}/wasm/query_module.cpp)
set(wasm ${PROJECT_BINARY_DIR}/wasm)

set(query_base machine error hash parallel trig)
set(query_field field models/analytic models/analytic_solid models/brick_assembly
  models/brick_bounds models/brick_field models/brick_flaw models/dense_grid models/first_order_build
  models/first_order_field voxmap/voxmap voxmap/voxmap_compress voxmap/voxmap_layers
  voxmap/voxmap_walk io/asset io/asset_file io/small_sections)
set(query_pointshell point_sphere_flaw point_sphere_tree)
set(query_queries collide collide_points distance shape shape_parts points/grid_target
  points/shell_contact
  points/shell_query points/shell_search points/shell_target swept/closest_approach swept/free_space
  swept/motion swept/steepness swept/swept)

find_program(ISOTACT_EMXX em++)
set(pages_missing "${missing}")  # of IsotactViewer.cmake
set(missing "")
if(pages_missing)
  set(missing "there are no pages")
elseif(NOT ISOTACT_WITH_WASM)
  set(missing "it was switched off (ISOTACT_WITH_WASM)")
elseif(ISOTACT_SANITIZE)
  set(missing "sanitizers see nothing of it")
elseif(NOT ISOTACT_EMXX)
  set(missing "em++ was not found when it was built (scripts/deps wasm)")
endif()
if(missing AND ISOTACT_WITH_WASM STREQUAL "ON")
  message(FATAL_ERROR "ISOTACT_WITH_WASM is ON, but ${missing}")
endif()
isotact_part(wasm "${missing}")

set(module "")
if(NOT missing)
  # em++ has headers of its own: of the system's it may see these two only.
  find_path(fmt_headers fmt/format.h REQUIRED)
  find_path(xxhash_headers xxhash.h REQUIRED)
  file(MAKE_DIRECTORY ${wasm}/include)
  file(CREATE_LINK ${fmt_headers}/fmt ${wasm}/include/fmt SYMBOLIC)
  file(CREATE_LINK ${xxhash_headers}/xxhash.h ${wasm}/include/xxhash.h SYMBOLIC)
  set(wrapper "")
  if(CCACHE_PROGRAM)
    set(wrapper ${CMAKE_COMMAND} -E env EM_COMPILER_WRAPPER=${CCACHE_PROGRAM})
  endif()
  # As IsotactCompile.cmake has it: the same bits as the tool's.
  set(flags -std=c++20 -O2 -DNDEBUG -ffp-contract=off -fwasm-exceptions -msimd128 -DFMT_HEADER_ONLY
    -include ${PROJECT_SOURCE_DIR}/viewer/query/older_library.h -I${PROJECT_SOURCE_DIR}/src -I${wasm}/include)
  set(objects "")
  foreach(part IN ITEMS base field pointshell queries)
    set(text "")
    foreach(file IN LISTS query_${part})
      string(APPEND text "#include \"${PROJECT_SOURCE_DIR}/src/isotact/${part}/${file}.cpp\"\n")
    endforeach()
    file(CONFIGURE OUTPUT ${wasm}/${part}.cpp CONTENT "${text}" @ONLY)
    list(APPEND sources ${wasm}/${part}.cpp)
  endforeach()
  foreach(source IN LISTS sources ITEMS ${PROJECT_SOURCE_DIR}/viewer/query/query.cpp
      ${PROJECT_SOURCE_DIR}/viewer/query/left_out.cpp)
    get_filename_component(name ${source} NAME_WE)
    add_custom_command(OUTPUT ${wasm}/${name}.o
      COMMAND ${wrapper} ${ISOTACT_EMXX} ${flags} -c ${source} -o ${wasm}/${name}.o
              -MD -MF ${wasm}/${name}.d
      DEPENDS ${source} DEPFILE ${wasm}/${name}.d
      COMMENT "Compiling ${name} to WebAssembly" VERBATIM)
    list(APPEND objects ${wasm}/${name}.o)
  endforeach()
  set(module ${wasm}/query.wasm)
  add_custom_command(OUTPUT ${module}
    COMMAND ${ISOTACT_EMXX} -O2 -fwasm-exceptions ${objects} -o ${module} --no-entry
            -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH
            -sEXPORTED_FUNCTIONS=_query_room,_query_load,_query_collide
    DEPENDS ${objects} COMMENT "Linking the query of pages" VERBATIM)
endif()
add_custom_command(OUTPUT ${ISOTACT_QUERY_SOURCE}
  COMMAND ${CMAKE_COMMAND} "-DMODULE=${module}" "-DMISSING=${missing}" -DOUTPUT=${ISOTACT_QUERY_SOURCE}
          -P ${PROJECT_SOURCE_DIR}/cmake/EmbedModule.cmake
  DEPENDS ${module} ${PROJECT_SOURCE_DIR}/cmake/EmbedModule.cmake VERBATIM)
set_source_files_properties(${ISOTACT_QUERY_SOURCE} PROPERTIES
  SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)

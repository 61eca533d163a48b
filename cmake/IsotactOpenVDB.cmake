# isotact_find_openvdb(): finds OpenVDB and NanoVDB as installed and sets ISOTACT_OPENVDB_FOUND and
# ISOTACT_NANOVDB_FOUND in the caller's scope. Targets: isotact_openvdb_peer, isotact_nanovdb_peer.
# OpenVDB's own FindOpenVDB.cmake is not used: where a compiled library of Boost is missing, which
# only OpenVDB's own build needs, it ends the configuration with an error even if asked quietly.
function(isotact_find_openvdb)
  find_path(ISOTACT_OPENVDB_INCLUDE openvdb/openvdb.h)
  find_library(ISOTACT_OPENVDB_LIBRARY openvdb)
  find_path(ISOTACT_BOOST_INCLUDE boost/numeric/conversion/conversion_traits.hpp)  # OpenVDB's headers include it
  find_package(TBB QUIET)
  mark_as_advanced(ISOTACT_OPENVDB_INCLUDE ISOTACT_OPENVDB_LIBRARY ISOTACT_BOOST_INCLUDE)
  set(found FALSE)
  set(nano_found FALSE)
  if(ISOTACT_OPENVDB_INCLUDE AND ISOTACT_OPENVDB_LIBRARY AND ISOTACT_BOOST_INCLUDE AND TBB_FOUND)
    set(found TRUE)
    if(NOT TARGET isotact_openvdb_peer)
      add_library(isotact_openvdb_peer INTERFACE IMPORTED GLOBAL)
      target_include_directories(isotact_openvdb_peer SYSTEM INTERFACE
        ${ISOTACT_OPENVDB_INCLUDE} ${ISOTACT_BOOST_INCLUDE})
      target_link_libraries(isotact_openvdb_peer INTERFACE ${ISOTACT_OPENVDB_LIBRARY} TBB::tbb)
      # OpenVDB registers its grids through static members of templates, which its library and its
      # users must share.
      target_compile_options(isotact_openvdb_peer INTERFACE -fvisibility=default
        -fno-visibility-inlines-hidden)
      find_package(Imath QUIET CONFIG)  # its half floats, in some builds
      if(TARGET Imath::Imath)
        target_link_libraries(isotact_openvdb_peer INTERFACE Imath::Imath)
      endif()
    endif()
  endif()
  find_path(ISOTACT_NANOVDB_INCLUDE nanovdb/util/OpenToNanoVDB.h)
  mark_as_advanced(ISOTACT_NANOVDB_INCLUDE)
  if(found AND ISOTACT_NANOVDB_INCLUDE)
    set(nano_found TRUE)
    if(NOT TARGET isotact_nanovdb_peer)
      add_library(isotact_nanovdb_peer INTERFACE IMPORTED GLOBAL)
      target_include_directories(isotact_nanovdb_peer SYSTEM INTERFACE ${ISOTACT_NANOVDB_INCLUDE})
      target_link_libraries(isotact_nanovdb_peer INTERFACE isotact_openvdb_peer)
      # The two ways in which .nvdb files may be compressed.
      find_package(ZLIB QUIET)
      if(ZLIB_FOUND)
        target_compile_definitions(isotact_nanovdb_peer INTERFACE NANOVDB_USE_ZIP)
        target_link_libraries(isotact_nanovdb_peer INTERFACE ZLIB::ZLIB)
      endif()
      find_path(ISOTACT_BLOSC_INCLUDE blosc.h)
      find_library(ISOTACT_BLOSC_LIBRARY blosc)
      mark_as_advanced(ISOTACT_BLOSC_INCLUDE ISOTACT_BLOSC_LIBRARY)
      if(ISOTACT_BLOSC_INCLUDE AND ISOTACT_BLOSC_LIBRARY)
        target_compile_definitions(isotact_nanovdb_peer INTERFACE NANOVDB_USE_BLOSC)
        target_link_libraries(isotact_nanovdb_peer INTERFACE ${ISOTACT_BLOSC_LIBRARY})
      endif()
    endif()
  endif()
  set(ISOTACT_OPENVDB_FOUND ${found} PARENT_SCOPE)
  set(ISOTACT_NANOVDB_FOUND ${nano_found} PARENT_SCOPE)
endfunction()

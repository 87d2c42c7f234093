# The installed tree: the commands, the public headers, and two compiled libraries.
#
#   bin/piracema  include/piracema/  lib/libpiracema.a  lib/libpiracema_smr.a  lib/cmake/piracema/
#   lib/pkgconfig/
#
# Each rule names the component that it belongs to, which is a package of cmake/packages.cmake.
# piracema::piracema is for streams; piracema::smr, for replicated state machines, stands on it.
# Programs inside this tree link the same library, by the same name, as users do.
include(CMakePackageConfigHelpers)

# piracema_installed_library(TARGET NAME FILE): the rooms that are INSTALLED_IN it, as libFILE.a.
function(piracema_installed_library target name file)
  get_property(parts GLOBAL PROPERTY piracema_parts_of_${name})
  set(objects "")
  foreach(part ${parts})
    list(APPEND objects $<TARGET_OBJECTS:${part}>)
  endforeach()
  add_library(${target} ${PIRACEMA_LIBRARY_TYPE} ${objects})
  add_library(piracema::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${file} EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} INTERFACE Threads::Threads sodium)
  install(TARGETS ${target} EXPORT piracema
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  # What a debugger wants is nine tenths of the file; a debug build keeps it.
  if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${file}.a\")"
      COMPONENT development)
  endif()
endfunction()
piracema_installed_library(piracema_library piracema piracema)
piracema_installed_library(piracema_smr_library smr piracema_smr)
target_link_libraries(piracema_smr_library INTERFACE piracema_library)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/piracema)
install(DIRECTORY include/piracema DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)
install(EXPORT piracema NAMESPACE piracema:: FILE piracema-targets.cmake
  DESTINATION ${package_dir} COMPONENT development)

configure_package_config_file(cmake/piracema-config.cmake.in piracema-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before version 1.0 a minor version may change what users see.
write_basic_package_version_file(piracema-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/piracema-config.cmake ${PROJECT_BINARY_DIR}/piracema-config-version.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The prefix is that of `cmake --install --prefix`, so pkg-config finds it from the file's place.
file(RELATIVE_PATH prefix_from_pc
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(package piracema piracema-smr)
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

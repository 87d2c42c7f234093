# The installed tree: the commands, the public headers, and the compiled libraries.
#
#   bin/piracema  include/piracema/  lib/libpiracema.a  lib/libpiracema_smr.a  lib/libpiracema.so
#   lib/cmake/piracema/  lib/pkgconfig/
#
# Each rule names the component that it belongs to, which is a package of cmake/packages.cmake.
# piracema::piracema is for streams; piracema::smr, for replicated state machines, stands on it.
# piracema::shared is both of them in one shared library. Programs inside this tree link the static
# library, by the same name, as users do.
include(CMakePackageConfigHelpers)

# piracema_objects_of(OBJECTS LIBRARY …): what the rooms that are INSTALLED_IN them are compiled to.
function(piracema_objects_of variable)
  set(objects "")
  foreach(library ${ARGN})
    get_property(parts GLOBAL PROPERTY piracema_parts_of_${library})
    foreach(part ${parts})
      list(APPEND objects $<TARGET_OBJECTS:${part}>)
    endforeach()
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# piracema_for_users(TARGET NAME LINKAGE): it is piracema::NAME, with what programs want to use it. A
# program with the library twice, static and shared, would have two of each thing: CMake refuses it.
function(piracema_for_users target name linkage)
  add_library(piracema::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    INTERFACE_PIRACEMA_LINKAGE ${linkage} COMPATIBLE_INTERFACE_STRING PIRACEMA_LINKAGE)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} INTERFACE Threads::Threads)
endfunction()

# piracema_installed_library(TARGET NAME FILE): the rooms that are INSTALLED_IN it, as libFILE.a.
function(piracema_installed_library target name file)
  piracema_objects_of(objects ${name})
  add_library(${target} ${PIRACEMA_LIBRARY_TYPE} ${objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${file})
  piracema_for_users(${target} ${name} static)
  target_link_libraries(${target} INTERFACE sodium)
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

# Both in one shared library: replicated state machines use what it hides of the rooms below them.
# Before version 1.0 a minor version may change what users see, so it is part of the name that a program
# wants. The objects are those of the static libraries, so it costs a link. Sanitizers have the rooms as
# shared libraries.
if(NOT PIRACEMA_SANITIZE)
  piracema_objects_of(objects piracema smr)
  add_library(piracema_shared SHARED ${objects})
  set_target_properties(piracema_shared PROPERTIES OUTPUT_NAME piracema VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  piracema_for_users(piracema_shared shared shared)
  target_link_libraries(piracema_shared PRIVATE Threads::Threads sodium ${CMAKE_DL_LIBS})
  set(shown ${PROJECT_BINARY_DIR}/piracema.map)
  configure_file(cmake/piracema.map.in ${shown} @ONLY)
  set_target_properties(piracema_shared PROPERTIES LINK_DEPENDS ${shown})
  target_link_options(piracema_shared PRIVATE
    -Wl,--version-script=${shown} -Wl,--no-undefined $<$<NOT:$<CONFIG:Debug>>:-Wl,--strip-debug>)
  install(TARGETS piracema_shared EXPORT piracema_shared
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT shared NAMELINK_COMPONENT development)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/piracema)
install(DIRECTORY include/piracema DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT development)
install(EXPORT piracema NAMESPACE piracema:: FILE piracema-targets.cmake
  DESTINATION ${package_dir} COMPONENT development)
if(TARGET piracema_shared)
  install(EXPORT piracema_shared NAMESPACE piracema:: FILE piracema-shared-targets.cmake
    DESTINATION ${package_dir} COMPONENT development)
endif()

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
set(packages piracema piracema-smr)
if(TARGET piracema_shared)
  list(APPEND packages piracema-shared)
endif()
foreach(package ${packages})
  configure_file(cmake/${package}.pc.in ${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

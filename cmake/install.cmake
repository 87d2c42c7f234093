# The installed tree: the command, the public headers, and one compiled library.
#
#   bin/piracema  include/piracema/  lib/libpiracema.a  lib/cmake/piracema/  lib/pkgconfig/
#
# Programs inside this tree link the same library, by the same name, as users do.
include(CMakePackageConfigHelpers)

get_property(parts GLOBAL PROPERTY piracema_parts)
set(objects "")
foreach(part ${parts})
  list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()

add_library(piracema_library STATIC ${objects})
add_library(piracema::piracema ALIAS piracema_library)
set_target_properties(piracema_library PROPERTIES
  OUTPUT_NAME piracema EXPORT_NAME piracema LINKER_LANGUAGE CXX)
target_include_directories(piracema_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(piracema_library INTERFACE cxx_std_20)
target_link_libraries(piracema_library INTERFACE Threads::Threads sodium)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/piracema)
install(TARGETS piracema_library EXPORT piracema ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/piracema DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT piracema NAMESPACE piracema:: FILE piracema-targets.cmake
  DESTINATION ${package_dir})

configure_package_config_file(cmake/piracema-config.cmake.in piracema-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before version 1.0 a minor version may change what users see.
write_basic_package_version_file(piracema-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/piracema-config.cmake ${PROJECT_BINARY_DIR}/piracema-config-version.cmake
  DESTINATION ${package_dir})

# The prefix is that of `cmake --install --prefix`, so pkg-config finds it from the file's place.
file(RELATIVE_PATH prefix_from_pc
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/piracema.pc.in piracema.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/piracema.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

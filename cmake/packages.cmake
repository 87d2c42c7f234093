# The packages of Debian and Ubuntu: `cpack` in a build directory makes them.
#
#   piracema         component programs: the command, its products, manual, completion, units
#   libpiracema-dev  component development: headers, libraries, the files for CMake and pkg-config
#   libpiracema0.1   component shared: the shared library; a program that wants it says so itself
#   piracema-mpi     component mpi: what is built once for each MPI, and loaded where that MPI runs
#
# The version is that of project(). tests/package installs them on a bare system.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL programs development)
if(TARGET piracema_shared)
  list(APPEND CPACK_COMPONENTS_ALL shared)
endif()
if(TARGET piracema_coll_openmpi OR TARGET piracema_coll_mpich)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "stream processing that survives the loss of its processes")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PACKAGE_CONTACT "The maintainers of Piracema <maintainers@piracema.invalid>" CACHE STRING
  "The Maintainer field of the packages")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(shared_package libpiracema${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME piracema)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "openssh-client, libmicrohttpd12, libcurl4")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "libpiracema-dev, piracema-mpi, criu, zstd, librocksdb7.8 | librocksdb6.11 | librocksdb8.9")
set(CPACK_DEBIAN_PROGRAMS_DESCRIPTION
"The command that runs programs made with libpiracema-dev as several processes,
on one machine or on several. A job that loses a process goes on from its last
snapshot, and its output is the same as if nothing had happened.

It also has a replicated key-value map, and checkpoints of unmodified MPI
programs on machines that are only lent.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libpiracema-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# Static libraries have no dependencies that dpkg-shlibdeps could find: what their users' programs
# are compiled and linked with. The link libpiracema.so is in this package, and leads to the other.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libcereal-dev, libsodium-dev")
if(TARGET piracema_shared)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", ${shared_package} ${same_version}")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "piracema ${same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, g++, pkg-config, libmicrohttpd12, libcurl4, librocksdb7.8 | librocksdb6.11 | librocksdb8.9")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
"The C++20 headers and static libraries to write programs that process streams,
and services that are replicated state machines, with the files by which CMake
and pkg-config find them.")

set(CPACK_DEBIAN_SHARED_PACKAGE_NAME ${shared_package})
set(CPACK_DEBIAN_SHARED_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_SHARED_PACKAGE_SHLIBDEPS ON)
# By this dpkg-shlibdeps finds what the package of a program that wants it depends on. CPack could write
# it, but warns of every plug-in that has no version.
file(WRITE ${PROJECT_BINARY_DIR}/packaging/shlibs
  "libpiracema ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} ${shared_package} (>= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})\n")
set(CPACK_DEBIAN_SHARED_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/packaging/shlibs)
set(CPACK_DEBIAN_SHARED_PACKAGE_SUGGESTS "libmicrohttpd12, libcurl4, librocksdb7.8 | librocksdb6.11 | librocksdb8.9")
set(CPACK_DEBIAN_SHARED_DESCRIPTION
"The shared library for programs that were linked with piracema::shared. Those that
are linked as libpiracema-dev does it by itself have all they want in them, and run
where this package is not installed.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME piracema-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION science)
# An MPI loads its own one of these libraries, and brings what that is linked with. So who has one
# MPI need not have the other, and an MPI that is not from a package will do. The rest is what the
# programs of the same build depend on, with versions there.
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "piracema ${same_version}, libc6, libgcc-s1, libstdc++6")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
set(CPACK_DEBIAN_MPI_DESCRIPTION
"Libraries for programs of Open MPI and MPICH. The command 'piracema coll'
preloads one under an unmodified program, whose collectives then follow the
links as they are; 'piracema run --transport mpi' lets a stream talk by MPI.")

# What Debian wants to find in the documents of each package.
find_program(PIRACEMA_GZIP gzip)
mark_as_advanced(PIRACEMA_GZIP)
set(change_log ${PROJECT_BINARY_DIR}/packaging/changelog.gz)
set(debian_change_log ${PROJECT_BINARY_DIR}/packaging/changelog.Debian.gz)
if(PIRACEMA_GZIP)
  string(TIMESTAMP CONFIGURED_AT "%a, %d %b %Y %H:%M:%S +0000" UTC)  # Or SOURCE_DATE_EPOCH.
  configure_file(packaging/changelog.in packaging/changelog @ONLY)
  add_custom_command(OUTPUT ${change_log} ${debian_change_log}
    COMMAND ${PIRACEMA_GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${change_log}
    COMMAND ${PIRACEMA_GZIP} -9nc ${PROJECT_BINARY_DIR}/packaging/changelog > ${debian_change_log}
    DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_BINARY_DIR}/packaging/changelog VERBATIM)
  add_custom_target(piracema_change_log ALL DEPENDS ${change_log} ${debian_change_log})
endif()
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(documents ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES packaging/copyright DESTINATION ${documents} COMPONENT ${component})
  if(PIRACEMA_GZIP)
    install(FILES ${change_log} ${debian_change_log}
      DESTINATION ${documents} COMPONENT ${component})
  endif()
endforeach()

# Its pages are made by running the programs.
if(NOT PIRACEMA_SANITIZE)
  add_subdirectory(packaging)
endif()

include(CPack)

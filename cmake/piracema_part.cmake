# What every target of ours is built with.
add_library(piracema_options INTERFACE)
target_compile_features(piracema_options INTERFACE cxx_std_20)
# __FILE__ does not hold the clone's path, so that ccache finds an object in every clone. A single file
# needs no option for that: ccache calls it by a relative path. A precompiled header must not have it,
# as it keeps the path that the option names.
target_compile_options(piracema_options INTERFACE
  "$<$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>")
target_compile_options(piracema_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers
  # To look for memory that it could use again takes a large file up to a tenth of the compiler's time:
  # from 500 MB on is soon enough.
  "$<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=500000>"
  # With -O3 or sanitizers g++ 12 sees uses of a variant's other alternatives where there are none,
  # and strings that overlap themselves (GCC bug 105651).
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict>")
if(PIRACEMA_SANITIZE)
  target_compile_options(piracema_options INTERFACE
    -fsanitize=${PIRACEMA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # These two look at every access to memory and double the time to compile. A null pointer stops
  # the program anyway, and bytes from outside are read by memcpy alone (wire/fields.h).
  if(PIRACEMA_SANITIZE MATCHES undefined)
    target_compile_options(piracema_options INTERFACE -fno-sanitize=null,alignment)
  endif()
  target_link_options(piracema_options INTERFACE -fsanitize=${PIRACEMA_SANITIZE})
endif()

# With sanitizers there are some 300 programs, each for a test. A library that they share is linked once
# and is on the disk once; held by each of them, the rooms are nine tenths of it.
set(PIRACEMA_LIBRARY_TYPE STATIC)
if(PIRACEMA_SANITIZE)
  set(PIRACEMA_LIBRARY_TYPE SHARED)
endif()

# What is only tested is linked sooner so: some hundreds of programs.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold PIRACEMA_CAN_USE_GOLD)
if(PIRACEMA_SANITIZE AND PIRACEMA_CAN_USE_GOLD)
  target_link_options(piracema_options INTERFACE -fuse-ld=gold)
endif()

# Files of a target are compiled several at a time: most of the time goes to what their headers have
# in common. So what a file keeps to itself has a name that no other file of its room gives. Turn it
# off to see whether each file names all that it uses.
if(PROJECT_IS_TOP_LEVEL)  # Else the choice is that of the project which has this one in it.
  option(CMAKE_UNITY_BUILD "Compile several files at a time" ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 24 CACHE STRING "Files that are compiled at a time, at most")
endif()
if(CMAKE_UNITY_BUILD)
  # A class of one file with a member of a type of that file: no other file sees either.
  target_compile_options(piracema_options INTERFACE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
endif()

# piracema_precompile(TARGET): a test is one file, so what most of them read is compiled once.
function(piracema_precompile target)
  if(NOT TARGET piracema_precompiled)
    # A program, as the tests are: objects of libraries have other flags.
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
    add_executable(piracema_precompiled
      ${PROJECT_BINARY_DIR}/precompiled.cpp $<TARGET_OBJECTS:piracema_test_main>)
    target_link_libraries(piracema_precompiled PRIVATE piracema_options)
    set_target_properties(piracema_precompiled PROPERTIES UNITY_BUILD OFF)
    target_precompile_headers(piracema_precompiled PRIVATE
      <algorithm> <array> <atomic> <chrono> <condition_variable> <deque> <filesystem> <fstream>
      <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <sstream> <string>
      <string_view> <thread> <unordered_map> <utility> <variant> <vector> <doctest/doctest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM piracema_precompiled)
  # The first is for ccache. The others are what g++ 12 sees in the library's strings (bug 105651) once
  # it has forgotten that their header is the system's.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-stringop-overflow;-Wno-array-bounds>")
endfunction()

# The rooms of each installed library, by its name.
set_property(GLOBAL PROPERTY piracema_parts_of_piracema "")
set_property(GLOBAL PROPERTY piracema_parts_of_smr "")

# piracema_part(NAME [INSTALLED_IN LIBRARY] FOLDERS … SOURCES … DEPENDS … TESTS … PURE_TESTS …): one
# room of the house.
#
# Makes the objects of the room, a program NAME_tests of all its tests, and a ctest for each file of
# TESTS and of PURE_TESTS; the latter have no threads, and are not built for the thread sanitizer.
# `DEPENDS` are the rooms that it may name, `FOLDERS` its folders in their order: each names only those
# before it. tests/layers_test.py holds the #includes to both lists. `INSTALLED_IN` is the library that users get
# it in: piracema if nothing is said, smr, or none.
function(piracema_part name)
  cmake_parse_arguments(PART "" "INSTALLED_IN" "FOLDERS;SOURCES;DEPENDS;LIBRARIES;TESTS;PURE_TESTS" ${ARGN})
  set(target piracema_${name})
  add_library(${target} ${PIRACEMA_LIBRARY_TYPE} ${PART_SOURCES})
  target_include_directories(${target} PUBLIC
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  foreach(room ${PART_DEPENDS})
    target_link_libraries(${target} PUBLIC piracema_${room})
  endforeach()
  target_link_libraries(${target} PUBLIC ${PART_LIBRARIES} PRIVATE piracema_options)
  if(NOT PART_INSTALLED_IN)
    set(PART_INSTALLED_IN piracema)
  endif()
  set_property(GLOBAL APPEND PROPERTY piracema_parts_of_${PART_INSTALLED_IN} ${target})
  if(NOT PIRACEMA_SANITIZE STREQUAL "thread")
    list(APPEND PART_TESTS ${PART_PURE_TESTS})
  endif()
  if(NOT PART_TESTS OR NOT BUILD_TESTING)
    return()
  endif()
  # Compiled several files at a time, as the room is: they read the same headers.
  set(tests ${name}_tests)
  piracema_test_program(${tests} SOURCES ${PART_TESTS} PARTS ${name})
  if(NOT CMAKE_UNITY_BUILD)
    piracema_precompile(${tests})
  endif()
  # The room is optimised; what only tests it need not be, and is built sooner.
  target_compile_options(${tests} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  foreach(test ${PART_TESTS})
    string(REGEX REPLACE "\\.cpp$" "" stem ${test})
    string(REPLACE "/" "_" stem ${stem})
    add_test(NAME ${name}_${stem} COMMAND ${tests} --source-file=*src/${name}/${test})
    piracema_test_properties(${name}_${stem})
  endforeach()
endfunction()

# piracema_test(NAME SOURCES … PARTS … LIBRARIES … LABELS …): a doctest program as a ctest.
function(piracema_test name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;PARTS;LIBRARIES;LABELS" ${ARGN})
  piracema_test_program(${name} SOURCES ${TEST_SOURCES} PARTS ${TEST_PARTS} LIBRARIES ${TEST_LIBRARIES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  piracema_precompile(${name})
  # What it tests is optimised, as for the tests of a room.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  add_test(NAME ${name} COMMAND ${name})
  piracema_test_properties(${name} TIMEOUT ${TEST_TIMEOUT} LABELS ${TEST_LABELS})
endfunction()

# A program of tests.
function(piracema_test_program name)
  cmake_parse_arguments(TEST "" "" "SOURCES;PARTS;LIBRARIES" ${ARGN})
  if(NOT TARGET piracema_test_main)
    add_library(piracema_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/main.cpp)
    target_link_libraries(piracema_test_main PRIVATE piracema_options)
  endif()
  add_executable(${name} ${TEST_SOURCES} $<TARGET_OBJECTS:piracema_test_main>)
  foreach(room ${TEST_PARTS})
    target_link_libraries(${name} PRIVATE piracema_${room})
  endforeach()
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} piracema_options)
  if(PIRACEMA_CAN_USE_GOLD)
    target_link_options(${name} PRIVATE -fuse-ld=gold)
  endif()
endfunction()

# What ctest is to know of a doctest program, or of a file of one. It is skipped, if nothing else of it
# fails, when one of its cases says MESSAGE("SKIPPED: why").
#
# `./test` runs as many tests at a time as there are halves of processors. One that computes has two
# of them (PROCESSORS); with the label cluster, or where this is not called, it mostly waits and has one,
# unless more is said. One that wants most of them, or a lock, has a COST above all times in seconds that ctest
# remembers, so that it begins early: it would be left over at the end, with nothing beside it.
function(piracema_test_properties name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 600)  # For what hangs: a busy machine takes its time.
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT}
    SKIP_RETURN_CODE 77)
  if(NOT "cluster" IN_LIST TEST_LABELS)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
endfunction()

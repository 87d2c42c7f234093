# What a browser gets is compiled in: PAGE_NAME_EXT of each file of `folder`, for a file that CMake
# configures. A literal has a bound of 64 KiB in the standard.
function(piracema_page_files folder)
  foreach(file ${ARGN})
    file(READ ${folder}/${file} text)
    string(TOUPPER ${file} name)
    string(REPLACE "." "_" name ${name})
    set(PAGE_${name} "R\"page(${text})page\"" PARENT_SCOPE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${file})
  endforeach()
endfunction()

# What programs are linked with: rtl_sqlite, rtl_zstd, rtl_jansson, rtl_zlib and rtl_demangler.
#
# rtl starts before each program that it records, and a shared library takes up to a tenth of a millisecond of that,
# libstdc++ (for its demangler) half of one. So programs take a package's static library where it has one. What is loaded
# into other programs takes the shared ones, which those may have too.

# rtl_static_library(VARIABLE FILE SHARED): the path of FILE where the compiler finds it, else SHARED.
function(rtl_static_library variable file shared)
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${file} OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT IS_ABSOLUTE "${path}")
    set(path ${shared})
  endif()
  set(${variable} ${path} PARENT_SCOPE)
endfunction()

# rtl_program_library(NAME FILE SHARED [LIBRARY...]): the target NAME, and what FILE needs besides.
function(rtl_program_library name file shared)
  rtl_static_library(path ${file} ${shared})
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE ${path} ${ARGN})
endfunction()

rtl_program_library(rtl_sqlite libsqlite3.a PkgConfig::SQLITE m ${CMAKE_DL_LIBS} Threads::Threads)
rtl_program_library(rtl_zstd libzstd.a PkgConfig::ZSTD Threads::Threads)
rtl_program_library(rtl_jansson libjansson.a PkgConfig::JANSSON)
rtl_program_library(rtl_zlib libz.a ZLIB::ZLIB)
target_include_directories(rtl_sqlite SYSTEM INTERFACE ${SQLITE_INCLUDE_DIRS})
target_include_directories(rtl_zstd SYSTEM INTERFACE ${ZSTD_INCLUDE_DIRS})
target_include_directories(rtl_jansson SYSTEM INTERFACE ${JANSSON_INCLUDE_DIRS})
target_include_directories(rtl_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE_DIRS})

# A test in C++ has all of the shared libstdc++ anyway, and must not have another one in front of it.
rtl_static_library(demangler libstdc++.a stdc++)
add_library(rtl_demangler INTERFACE)
target_link_libraries(rtl_demangler INTERFACE $<IF:$<LINK_LANGUAGE:C>,${demangler},stdc++>)

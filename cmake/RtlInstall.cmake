# What `cmake --install` puts where, the CMake package `rtl` and the pkg-config files. The command line
# tool and the demo install themselves (tools/).
#
#   rtl::trace   librtltrace.so, reading traces        <rtl/rtl_trace.h>   rtltrace.pc
#   rtl::rtl     librtl.so, control from the program   <rtl/rtl.h>         rtl.pc
#
# librtl.so, softgpu/, roctx/ and librtltrace.so lie in one library folder, which the tools find from their own
# place; so an installation may be moved as a whole.
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rtl)

set_target_properties(librtl PROPERTIES EXPORT_NAME rtl)
set_target_properties(rtltrace PROPERTIES EXPORT_NAME trace)
foreach(library librtl rtltrace)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(TARGETS librtl rtltrace EXPORT rtlTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
install(TARGETS rtlsqlite LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(RTL_SOFTGPU)
  install(TARGETS softgpu-run RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# In a folder of their own: libraries of ROCm have these names.
install(TARGETS roctx64 rocprofiler-sdk-roctx LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/roctx)

# Python looks there on Debian, for whatever version, where the prefix is /usr; elsewhere PYTHONPATH names it (docs/python.md).
set(RTL_PYTHON_DIR lib/python3/dist-packages CACHE STRING "where the Python module is installed to, in the prefix")
install(DIRECTORY python/rtl DESTINATION ${RTL_PYTHON_DIR} FILES_MATCHING PATTERN "*.py")

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.png"
        PATTERN man EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT rtlTargets NAMESPACE rtl:: DESTINATION ${package_dir})
configure_package_config_file(cmake/rtl-config.cmake.in ${CMAKE_BINARY_DIR}/rtl-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# 0.x: a minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rtl-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/rtl-config.cmake ${CMAKE_BINARY_DIR}/rtl-config-version.cmake
        DESTINATION ${package_dir})

# The prefix is given relative to the file itself, so that it stays right when the installation moves.
file(RELATIVE_PATH RTL_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" RTL_PC_PREFIX "${RTL_PC_PREFIX}")
foreach(name rtl rtltrace)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

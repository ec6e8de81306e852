# `cpack -G DEB` and `cpack -G TGZ` in a build folder: a Debian package, and a tarball that may be unpacked anywhere: its
# programs find what belongs to them by their own place.
set(CPACK_PACKAGE_NAME rtl)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "RTL <root@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# What the GPU runtime is called depends on who has made it, and RTL runs without one: it depends on what its files are linked
# with, and where nobody can tell that (dpkg-dev), on what the reader is.
find_program(RTL_SHLIBDEPS dpkg-shlibdeps)
if(RTL_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
else()
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libsqlite3-0, libzstd1")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3, python3-numpy, xdg-utils")
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
include(CPack)

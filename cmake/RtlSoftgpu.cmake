# Whether the software GPU is built. Afterwards RTL_SOFTGPU is true or false.
#
# It stands in for the driver's user-mode library and needs the header of that, which ROCm has up to 6.2.
find_path(HSAKMT_INCLUDE hsakmt.h PATH_SUFFIXES hsakmt)
if(RTL_SOFTGPU STREQUAL AUTO)
  set(RTL_SOFTGPU ON)
  if(NOT HSAKMT_INCLUDE)
    message(STATUS "hsakmt.h is not there (ROCm has it up to 6.2): the software GPU and the demo are not built")
    set(RTL_SOFTGPU OFF)
  endif()
elseif(RTL_SOFTGPU AND NOT HSAKMT_INCLUDE)
  message(FATAL_ERROR "hsakmt.h is not there (ROCm has it up to 6.2): the software GPU cannot be built; -DRTL_SOFTGPU=OFF builds RTL without it")
endif()

# What src/kineto has from the project around it, for when there is none around it. The bridge is what it is built for: for
# the PyTorch that PYTHON has, unless KINETO_INCLUDE_DIR names headers.
set(PYTHON python3 CACHE STRING "the Python whose PyTorch the bridge is built for")

include(GNUInstallDirs)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_compile_options(-Wall -Wextra -Wpedantic)
add_compile_definitions(_GNU_SOURCE)
include_directories(${CMAKE_CURRENT_LIST_DIR}/../../include ${CMAKE_CURRENT_LIST_DIR}/..)
find_package(Threads REQUIRED)

# The folder of PyTorch, which is not imported for that.
function(find_torch folder)
  execute_process(COMMAND ${PYTHON} -c
                          "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
                  OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${PYTHON} has no PyTorch: -DPYTHON=FILE names another Python, -DKINETO_INCLUDE_DIR=FOLDERS Kineto's headers")
  endif()
  set(${folder} ${found} PARENT_SCOPE)
endfunction()

# A wheel has its headers in its folder, Debian has them where all headers are.
if(NOT KINETO_INCLUDE_DIR)
  find_torch(torch)
  set(kineto)
  foreach(include ${torch}/include /usr/include)
    if(NOT kineto AND EXISTS ${include}/kineto/libkineto.h)
      set(kineto ${include}/kineto ${include})
    endif()
  endforeach()
  if(NOT kineto)
    message(FATAL_ERROR "${torch} has no headers of Kineto (in Debian they are in libtorch-dev)")
  endif()
  set(KINETO_INCLUDE_DIR ${kineto})
  if(NOT KINETO_LIBRARY)
    set(KINETO_LIBRARY ${torch}/lib/libtorch_cpu.so)
  endif()
endif()

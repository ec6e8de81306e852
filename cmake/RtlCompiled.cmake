# rtl_compiled: the target that builds all that the compilers of this build compile, and nothing else (no HIP programs, no
# fuzzers, no page: what makes those is the same in every build folder).
function(rtl_collect_compiled folder variable)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY" AND NOT type STREQUAL INTERFACE_LIBRARY)
      list(APPEND ${variable} ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    rtl_collect_compiled(${below} ${variable})
  endforeach()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

rtl_collect_compiled(${CMAKE_SOURCE_DIR} compiled)
add_custom_target(rtl_compiled DEPENDS ${compiled})

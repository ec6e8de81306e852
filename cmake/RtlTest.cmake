# Helpers for tests/<area>/CMakeLists.txt.
#
#   rtl_add_gtest(TARGET AREA area SOURCES a.cpp shim.c [LIBS lib...] [OBJECTS target file...] [SOFTGPU] [WHOLE] options...)
#       a GoogleTest program; its cases are ctest tests `area.Suite.Case`, or one test `area.TARGET`
#       with WHOLE (for programs whose start is dear, such as those that open a GPU). OBJECTS: what these files of
#       another target, named from its folder, are compiled to
#   rtl_add_program(TARGET SOURCES a.c [LIBS lib...])
#       a plain program for tests, in build/tests/bin
#   rtl_add_test(area.what COMMAND cmd... [DEPENDS target...] options...)
#       a ctest test around any command; none that depends on softgpu where the software GPU is not built
#   rtl_add_hip_program(TARGET SOURCE x.hip [GPUS gpu...] [FLAGS flag...] [DEPENDS file...])
#       a HIP program in build/tests/bin/TARGET, for these GPUs; RTL_HIP_GPUS are those that this hipcc compiles for
#   rtl_add_code_object(TARGET SOURCE x.cl [ASSEMBLY x.s])
#       kernels of OpenCL C source, and of assembly, as a loadable code object build/tests/bin/TARGET.co
#
# Options of both test functions:
#   SOFTGPU          runs on the software GPU (LD_PRELOAD)
#   SANITIZE         also runs in the sanitizer builds (GoogleTest programs without SOFTGPU always do)
#   NO_SANITIZE      never runs there
#   NO_TSAN          runs under address,undefined, not under thread: for what has one thread
#   TSAN_CASES G     of a GoogleTest program, the cases that run under thread (a --gtest_filter): those that start threads
#   SERIAL           never beside another test
#   MAY_SKIP         exits with status 77 where the machine lacks what it needs
#   ENV A=b...       environment
#   TIMEOUT seconds  180 when absent: more than the test takes on a machine that has time for it. Where many share a
#                    machine ctest waits RTL_TEST_PATIENCE times as long.
find_package(GTest REQUIRED)
include(GoogleTest)

set(RTL_SOFTGPU_DIR ${CMAKE_BINARY_DIR}/lib/softgpu)
option(RTL_UNITS "tests of functions, which need no GPU runtime" ON)
set(RTL_TEST_PATIENCE 5 CACHE STRING "how many times as long as its TIMEOUT a test may take")
set(RTL_GFX_TARGET gfx906 CACHE STRING "GPU that test kernels are compiled for")
find_program(RTL_HIPCC hipcc REQUIRED)
# Any clang of LLVM 14 or newer has the amdgcn back end; hipcc brings one, clang-14 may be the plain name. ROCm's own is in
# a folder of its own.
find_program(RTL_AMDGCN_CLANG NAMES clang-15 clang clang-14 clang-16 clang-17 clang-18 clang-19 clang-20 clang-21 clang-22
             PATH_SUFFIXES llvm/bin REQUIRED)

# Builds what the sanitizer runs need, and nothing that they do not.
if(NOT TARGET rtl_sanitize_tests)
  add_custom_target(rtl_sanitize_tests)
endif()

# Where RTL and the software GPU have a sanitizer built in, tests get the libraries of its runtime in E2E_SANITIZER, for
# programs that have none (tests/e2e/lib.sh), and librtl is not preloaded: it must not come before that runtime.
set(_rtl_sanitizer_runtime)
if(RTL_SANITIZE MATCHES address)
  set(_rtl_sanitizer_libraries libasan.so libubsan.so)
elseif(RTL_SANITIZE)
  set(_rtl_sanitizer_libraries libtsan.so)
endif()
if(RTL_SANITIZE)
  foreach(library ${_rtl_sanitizer_libraries})
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${library} OUTPUT_VARIABLE path
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND _rtl_sanitizer_runtime ${path})
  endforeach()
  list(JOIN _rtl_sanitizer_runtime ":" _rtl_sanitizer_runtime)
endif()

set(_rtl_test_flags SOFTGPU SANITIZE NO_SANITIZE NO_TSAN SERIAL MAY_SKIP)
set(_rtl_test_values TIMEOUT TSAN_CASES)
set(_rtl_test_lists ENV LIBS OBJECTS DEPENDS)

# Sets `properties` (a list for PROPERTIES), `environment` and `sanitized` from the parsed options in
# ARG_*. The environment is no member of the list, because it is a list itself.
macro(_rtl_test_properties default_sanitize)
  set(sanitized ${default_sanitize})
  if(ARG_SANITIZE)
    set(sanitized TRUE)
  endif()
  if(ARG_NO_SANITIZE OR (ARG_NO_TSAN AND RTL_SANITIZE STREQUAL "thread"))
    set(sanitized FALSE)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 180)
  endif()
  # What may take long begins first: begun last, it would run alone at the end.
  set(properties COST ${ARG_TIMEOUT})
  math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * ${RTL_TEST_PATIENCE}")
  set(environment ${ARG_ENV})
  if(ARG_SOFTGPU)
    string(JOIN ":" preload ${_rtl_sanitizer_runtime} ${RTL_SOFTGPU_DIR}/libsoftgpu.so)
    list(APPEND environment "LD_PRELOAD=${preload}")
  endif()
  list(APPEND properties TIMEOUT ${ARG_TIMEOUT})
  if(ARG_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(ARG_MAY_SKIP)
    list(APPEND properties SKIP_RETURN_CODE 77)
  endif()
  if(sanitized)
    list(APPEND properties LABELS sanitize)
  endif()
endmacro()

function(rtl_add_program target)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_LIBS})
endfunction()

# Links what these files of another target, named from its folder, are compiled to: compiled again they would take as long
# again, in each of the builds.
function(rtl_use_objects target from)
  list(JOIN ARGN "|" names)
  string(REPLACE "." "[.]" names "${names}")
  target_sources(${target} PRIVATE
                 "$<FILTER:$<TARGET_OBJECTS:${from}>,INCLUDE,/${from}[.]dir/([.]/)?(${names})[.]o$>")
endfunction()

# Tests in C++ spend their time in what they call. They are not optimized: that would double the time that GoogleTest's
# templates take to compile. A file that only hands C functions to GoogleTest is worth no debug information or sanitizer either: its hundreds of
# classes would take the longest of all files here.
function(_rtl_compile_cases sources)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  foreach(source ${sources})
    file(STRINGS ${source} calls REGEX "^RTL_C_TEST")
    file(STRINGS ${source} cases REGEX "^TEST")
    if(calls AND NOT cases)
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O0;-g0;-fno-sanitize=all")
    else()
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-O0;-g1")
    endif()
  endforeach()
endfunction()

function(rtl_add_gtest target)
  cmake_parse_arguments(ARG "${_rtl_test_flags};WHOLE" "${_rtl_test_values};AREA"
                        "${_rtl_test_lists};SOURCES" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  _rtl_compile_cases("${ARG_SOURCES}")
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main Threads::Threads)
  if(ARG_OBJECTS)
    rtl_use_objects(${target} ${ARG_OBJECTS})
  endif()
  if(NOT RTL_UNITS AND NOT ARG_SOFTGPU)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  if(ARG_SOFTGPU)
    _rtl_test_properties(FALSE)
    add_dependencies(${target} softgpu)
  else()
    _rtl_test_properties(TRUE)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
  if(sanitized)
    add_dependencies(rtl_sanitize_tests ${target})
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${ARG_AREA}.${target} COMMAND ${target})
    set_tests_properties(${ARG_AREA}.${target} PROPERTIES ${properties} ENVIRONMENT "${environment}")
  else()
    # gtest_discover_tests cannot pass a list as a property; env(1) in front of the program can.
    if(environment)
      set_target_properties(${target} PROPERTIES CROSSCOMPILING_EMULATOR "env;${environment}")
    endif()
    set(cases)
    if(ARG_TSAN_CASES AND RTL_SANITIZE STREQUAL "thread")
      set(cases TEST_FILTER ${ARG_TSAN_CASES})
    endif()
    gtest_discover_tests(${target} TEST_PREFIX "${ARG_AREA}." DISCOVERY_MODE PRE_TEST
                         DISCOVERY_TIMEOUT 300 ${cases} PROPERTIES ${properties})
  endif()
endfunction()

function(rtl_add_test name)
  cmake_parse_arguments(ARG "${_rtl_test_flags}" "${_rtl_test_values}" "${_rtl_test_lists};COMMAND" ${ARGN})
  if(NOT RTL_SOFTGPU AND "softgpu" IN_LIST ARG_DEPENDS)
    return()
  endif()
  _rtl_test_properties(FALSE)
  if(RTL_SANITIZE)
    list(APPEND environment RTL_PRELOAD=off E2E_SANITIZER=${_rtl_sanitizer_runtime})
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES ${properties} ENVIRONMENT "${environment}")
  if(sanitized AND ARG_DEPENDS)
    add_dependencies(rtl_sanitize_tests ${ARG_DEPENDS})
  endif()
endfunction()

# These programs have no sanitizer built in: the folders of the sanitizers may take those of another build folder, which
# is built before them (script/test does).
set(RTL_HIP_FROM "" CACHE PATH "Build folder whose HIP programs are taken; hipcc makes them when empty")

# hipcc asks a Python script for the machine's GPUs unless it is told the target; HIP_PLATFORM and
# --offload-arch tell it everything. It is C++: our own headers are reached by the usual include roots.
function(rtl_add_hip_program target)
  cmake_parse_arguments(ARG "" "SOURCE" "GPUS;FLAGS;DEPENDS" ${ARGN})
  if(NOT ARG_GPUS)
    set(ARG_GPUS ${RTL_GFX_TARGET})
  endif()
  list(TRANSFORM ARG_GPUS PREPEND --offload-arch=)
  set(out ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${target})
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  if(RTL_HIP_FROM)
    set(made ${RTL_HIP_FROM}/tests/bin/${target})
    add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -E copy ${made} ${out} DEPENDS ${made} COMMENT "HIP ${target}" VERBATIM)
    add_custom_target(${target} ALL DEPENDS ${out})
    return()
  endif()
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd ${RTL_HIPCC} ${ARG_GPUS} -O2
            -std=c++17 -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/src ${ARG_FLAGS} ${source} -o ${out}
    DEPENDS ${source} ${ARG_DEPENDS}
    COMMENT "HIP ${target}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${out})
endfunction()

# Of the GPUs that the software GPU can look like, those that this hipcc compiles for: Debian 12's knows no gfx942, and has
# no device libraries for gfx1100.
if(NOT DEFINED RTL_HIP_GPUS)
  set(_rtl_empty ${CMAKE_BINARY_DIR}/CMakeFiles/rtl_empty)
  file(WRITE ${_rtl_empty}.hip "#include <hip/hip_runtime.h>\n__global__ void nothing() {}\n")
  foreach(gpu gfx906 gfx908 gfx90a gfx942 gfx1100)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env HIP_PLATFORM=amd ${RTL_HIPCC} --offload-arch=${gpu} -c ${_rtl_empty}.hip
                            -o ${_rtl_empty}.o RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      list(APPEND gpus ${gpu})
    endif()
  endforeach()
  set(RTL_HIP_GPUS ${gpus} CACHE STRING "GPUs that HIP programs are tested as")
endif()

# -nogpulib: the kernels call no device library, so none need be installed.
function(rtl_add_code_object target)
  cmake_parse_arguments(ARG "" "SOURCE;ASSEMBLY" "" ${ARGN})
  set(out ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${target}.co)
  get_filename_component(source ${ARG_SOURCE} ABSOLUTE)
  if(ARG_ASSEMBLY)
    set(assembly -x assembler ${ARG_ASSEMBLY})
  endif()
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    COMMAND ${RTL_AMDGCN_CLANG} -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=${RTL_GFX_TARGET} -nogpulib
            -O2 ${source} ${assembly} -o ${out}
    DEPENDS ${source} ${ARG_ASSEMBLY}
    COMMENT "code object ${target}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${out})
endfunction()

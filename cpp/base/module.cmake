# Builds the compiled module _core of a distribution: crosscut's own, or one that finds this folder by crosscut.get_include().
# A project can set options of single kernels (`<folder>_kernels_<file>_<level>_options`) before including this file.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(CROSSCUT_SANITIZE OFF CACHE STRING "Build with sanitizers: ON for AddressSanitizer and UndefinedBehaviorSanitizer, or thread")
option(CROSSCUT_WERROR "Treat compiler warnings as errors" OFF)
option(CROSSCUT_ABLATION "Allow switching off single accelerations, to measure them" OFF)
option(CROSSCUT_QUICK "Compile faster with less optimisation, for this machine's instruction set only" OFF)

find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module
             OPTIONAL_COMPONENTS Development.SABIModule)
find_package(nanobind CONFIG REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# No contraction or fast-math, because results must not depend on the instruction set (docs/semantics.md).
add_library(crosscut_options INTERFACE)
target_include_directories(crosscut_options INTERFACE ${CMAKE_SOURCE_DIR}/cpp ${CMAKE_CURRENT_LIST_DIR}/..)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wno-psabi -Wno-missing-field-initializers)
set(clang_option "")
if(MSVC)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    message(FATAL_ERROR "The kernels use vector extensions of clang and GCC. On Windows, build with clang-cl: "
                        "set the environment variable CMAKE_GENERATOR_TOOLSET=ClangCL")
  endif()
  set(warnings /W4 -Wno-missing-field-initializers)
  set(clang_option /clang:)  # without it, clang-cl ignores the options for exact results
  # 128-bit division and __builtin_cpu_supports, which clang-cl does not link by default
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} /clang:--rtlib=compiler-rt /clang:-print-libgcc-file-name
                  OUTPUT_VARIABLE builtins OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(TO_CMAKE_PATH "${builtins}" builtins)
  target_link_libraries(crosscut_options INTERFACE ${builtins})
endif()
target_compile_options(crosscut_options INTERFACE ${clang_option}-ffp-contract=off ${clang_option}-fno-math-errno ${warnings})
if(CROSSCUT_ABLATION)
  target_compile_definitions(crosscut_options INTERFACE CROSSCUT_ABLATION)
endif()
if(CROSSCUT_WERROR)
  target_compile_options(crosscut_options INTERFACE -Werror)
endif()
if(CROSSCUT_SANITIZE)
  set(sanitizers address,undefined)
  if(CROSSCUT_SANITIZE STREQUAL thread)
    set(sanitizers thread)
  endif()
  target_compile_options(crosscut_options INTERFACE -O1 -g -fno-omit-frame-pointer -fsanitize=${sanitizers}
                         -fno-sanitize-recover=undefined)
  target_link_options(crosscut_options INTERFACE -fsanitize=${sanitizers})
endif()
target_link_libraries(crosscut_options INTERFACE Threads::Threads)

# Kernels are compiled once per instruction set; the best build is chosen at run time.
set(levels baseline avx2 avx512)
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(levels baseline)
elseif(CROSSCUT_QUICK)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native -dM -E -x c++ /dev/null OUTPUT_VARIABLE macros)
  set(levels baseline)
  if(macros MATCHES __AVX512BW__)
    set(levels avx512)
  elseif(macros MATCHES __AVX2__)
    set(levels avx2)
  endif()
endif()
list(LENGTH levels n_levels)

set(avx2_options -mavx2 -mbmi -mbmi2 -mpopcnt -mlzcnt)
# GCC 12 warns about its own headers
set(avx512_options ${avx2_options} -mavx512f -mavx512bw -mavx512dq -mavx512vl ${clang_option}-mprefer-vector-width=512 $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

# The project's cpp/**/*.cpp and this folder are the module; files in folders named kernels are compiled per instruction set.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/cpp/*.cpp ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
list(REMOVE_DUPLICATES sources)
set(kernels ${sources})
list(FILTER sources EXCLUDE REGEX "/kernels/")
list(FILTER kernels INCLUDE REGEX "/kernels/")

# Bindings are compiled with -Os, because -O3 takes longer to compile than it is worth. They come last: the linker keeps the first copy
# of a template that several files use.
set(bindings ${sources})
list(FILTER bindings INCLUDE REGEX "/bind[^/]*$")
list(REMOVE_ITEM sources ${bindings})
if(CROSSCUT_QUICK)
  string(REPLACE -O3 -O1 CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
elseif(CMAKE_BUILD_TYPE STREQUAL Release)
  set_source_files_properties(${bindings} PROPERTIES COMPILE_OPTIONS -Os)
  if(n_levels GREATER 1)
    set(baseline_options -O1)  # for machines without AVX2, from before 2013
  endif()
endif()

# A domain of its own: else modules built with the same nanobind, such as duckdb, translate the exceptions of this one.
nanobind_add_module(_core NB_DOMAIN crosscut ${CROSSCUT_FREE_THREADED} STABLE_ABI NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE ${sources} ${bindings})
target_link_libraries(_core PRIVATE crosscut_options)
# nanobind silently falls back to the ABI of one version, which is wrong for a wheel whose name promises all versions.
if(SKBUILD_SABI_VERSION AND NOT TARGET nanobind-static-abi3)
  message(FATAL_ERROR "The wheel must support every Python from ${SKBUILD_SABI_VERSION} on, but Python ${Python_VERSION} here lacks the stable ABI "
                      "(CPython 3.12 or later with Development.SABIModule). For a wheel for this Python only: --config-settings wheel.py-api=")
endif()
if(n_levels EQUAL 1)
  target_compile_definitions(_core PRIVATE CROSSCUT_ONLY=${levels})
endif()
if(CROSSCUT_QUICK)
  target_precompile_headers(_core PRIVATE <nanobind/nanobind.h> <nanobind/ndarray.h> <nanobind/stl/optional.h> <nanobind/stl/pair.h>
                            <nanobind/stl/detail/nb_list.h> <nanobind/stl/tuple.h> <algorithm> <bit> <cmath> <limits>
                            <memory> <numeric> <span> <unordered_map>)
  get_target_property(libraries _core LINK_LIBRARIES)
  list(FILTER libraries INCLUDE REGEX "^nanobind")
  set_target_properties(${libraries} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endif()

# One object per kernel and instruction set; CROSSCUT_LEVEL is its namespace.
foreach(kernel IN LISTS kernels)
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/cpp ${kernel})
  string(REGEX REPLACE "/|\\.cpp" "_" name ${name})
  foreach(level IN LISTS levels)
    add_library(${name}${level} OBJECT ${kernel})
    target_link_libraries(${name}${level} PRIVATE crosscut_options)
    target_compile_definitions(${name}${level} PRIVATE CROSSCUT_LEVEL=${level})
    target_compile_options(${name}${level} PRIVATE ${${name}${level}_options} ${${level}_options})
    target_sources(_core PRIVATE $<TARGET_OBJECTS:${name}${level}>)
  endforeach()
endforeach()

# FUSION_SANITIZE: sanitizers for Fusion's own libraries, tools, run-time and tests. LLVM and MLIR are taken as they are
# installed, without instrumentation; docs/testing.md says what follows from that and how the suite is run.

set(FUSION_SANITIZE "" CACHE STRING "Sanitizers for Fusion's own code: a list of address, undefined, or thread alone")
if(FUSION_SANITIZE STREQUAL "")
  return()
endif()

string(REPLACE "," ";" _sanitizers "${FUSION_SANITIZE}")
foreach(sanitizer IN LISTS _sanitizers)
  if(NOT sanitizer MATCHES "^(address|undefined|thread)$")
    message(FATAL_ERROR "FUSION_SANITIZE: '${sanitizer}' is not known; use address, undefined, or thread")
  endif()
endforeach()
if("thread" IN_LIST _sanitizers AND NOT FUSION_SANITIZE STREQUAL "thread")
  message(FATAL_ERROR "FUSION_SANITIZE: thread cannot be combined with ${FUSION_SANITIZE}")
endif()

list(JOIN _sanitizers "," _joined)
add_compile_options(-fsanitize=${_joined} -fno-omit-frame-pointer -g1)
add_link_options(-fsanitize=${_joined})
if("undefined" IN_LIST _sanitizers)
  # An error must fail the test. Virtual tables of LLVM's classes have no type information to check.
  add_compile_options(-fno-sanitize-recover=undefined -fno-sanitize=vptr,function)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT FUSION_SANITIZE STREQUAL "thread")
  # One copy of the sanitizer for the tool and all shared libraries. (That of ThreadSanitizer is not initialised early
  # enough; it is in the executable.)
  add_compile_options(-shared-libsan)
  add_link_options(-shared-libsan)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-resource-dir OUTPUT_VARIABLE _resources
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND CMAKE_BUILD_RPATH "${_resources}/lib/linux")
endif()

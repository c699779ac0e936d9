# Thin wrappers: one call per library, tool and TableGen file, so that warnings, include paths, precompiled headers,
# install rules and exported targets are set in one place.

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH FUSION_SOURCE_DIR)
set(FUSION_BINARY_DIR ${CMAKE_CURRENT_BINARY_DIR})

add_library(fusion_compile_options INTERFACE)
target_include_directories(fusion_compile_options SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(fusion_compile_options INTERFACE ${FUSION_SOURCE_DIR}/include ${FUSION_BINARY_DIR}/include)
separate_arguments(_fusion_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(fusion_compile_options INTERFACE ${_fusion_llvm_definitions})
target_compile_options(fusion_compile_options INTERFACE -fno-exceptions -ffunction-sections -fdata-sections
  $<$<NOT:$<BOOL:${LLVM_ENABLE_RTTI}>>:-fno-rtti>)
if(FUSION_STRICT_WARNINGS)
  target_compile_options(fusion_compile_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wnon-virtual-dtor
    -Woverloaded-virtual -Werror $<$<CXX_COMPILER_ID:GNU>:-Wno-redundant-move>)
endif()

# One precompiled header for all of our libraries that use MLIR.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/pch.cpp "")
add_library(FusionPCH OBJECT ${CMAKE_CURRENT_BINARY_DIR}/pch.cpp)
target_link_libraries(FusionPCH PRIVATE fusion_compile_options)
target_precompile_headers(FusionPCH PRIVATE ${CMAKE_CURRENT_LIST_DIR}/Precompiled.h)

set_property(GLOBAL PROPERTY FUSION_TABLEGEN_TARGETS "")

# fusion_tablegen(<out.inc> <in.td> <mlir-tblgen options...>) in the folder of the .td.
function(fusion_tablegen out td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${out} ${ARGN} EXTRA_INCLUDES ${FUSION_SOURCE_DIR}/include ${MLIR_INCLUDE_DIRS})
  set(TABLEGEN_OUTPUT ${TABLEGEN_OUTPUT} PARENT_SCOPE)
endfunction()

# fusion_tablegen_target(<name>) collects the files made since the last call.
function(fusion_tablegen_target name)
  add_public_tablegen_target(${name})
  set_property(GLOBAL APPEND PROPERTY FUSION_TABLEGEN_TARGETS ${name})
endfunction()

# fusion_library(<name> SOURCES ... [LINK ...] [NO_PCH])
function(fusion_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} ${ARG_SOURCES})
  add_library(Fusion::${name} ALIAS ${name})
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:fusion_compile_options> PUBLIC ${ARG_LINK})
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<BUILD_INTERFACE:${FUSION_SOURCE_DIR}/include> $<BUILD_INTERFACE:${FUSION_BINARY_DIR}/include>)
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM FusionPCH)
  endif()
  get_property(tablegen GLOBAL PROPERTY FUSION_TABLEGEN_TARGETS)
  if(tablegen)
    add_dependencies(${name} ${tablegen})
  endif()
  set_property(GLOBAL APPEND PROPERTY FUSION_LIBRARIES ${name})
  install(TARGETS ${name} EXPORT FusionTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# fusion_tool(<name> SOURCES ... LINK ...)
function(fusion_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fusion_compile_options ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM FusionPCH)
  # Compiled like the libraries (PIC, not PIE), so that the precompiled header fits.
  target_compile_options(${name} PRIVATE -fPIC)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF ENABLE_EXPORTS ON
    RUNTIME_OUTPUT_DIRECTORY ${FUSION_BINARY_DIR}/bin)
  install(TARGETS ${name} EXPORT FusionTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY FUSION_TEST_DEPENDS ${name})
endfunction()

# fusion_plugin(<name> SOURCES ... LINK ...): <name>.so, to be loaded by a host that has libMLIR.
function(fusion_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} MODULE ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE fusion_compile_options ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM FusionPCH)
  # Only the entry points are visible: a host that links Fusion itself keeps its own copy apart from ours.
  target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL)
  set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${FUSION_PLUGIN_DIR})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set_property(GLOBAL APPEND PROPERTY FUSION_TEST_DEPENDS ${name})
endfunction()

# fusion_unit_test(<name>Tests SOURCES ... [LINK ...]): a GoogleTest program in build/bin/unit. The name must end with
# `Tests`: lit finds the programs by it and counts each test case.
function(fusion_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(NOT name MATCHES "Tests$")
    message(FATAL_ERROR "The name of a unit test must end with 'Tests': ${name}")
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  # MLIR in any case: the precompiled header refers to it.
  target_link_libraries(${name} PRIVATE fusion_compile_options ${ARG_LINK} MLIR LLVM GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${FUSION_SOURCE_DIR})
  target_precompile_headers(${name} REUSE_FROM FusionPCH)
  target_compile_options(${name} PRIVATE -fPIC)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF
    RUNTIME_OUTPUT_DIRECTORY ${FUSION_BINARY_DIR}/bin/unit)
  get_property(tablegen GLOBAL PROPERTY FUSION_TABLEGEN_TARGETS)
  add_dependencies(${name} ${tablegen})
  set_property(GLOBAL APPEND PROPERTY FUSION_TEST_DEPENDS ${name})
endfunction()

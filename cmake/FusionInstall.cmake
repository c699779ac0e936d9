include(CMakePackageConfigHelpers)
set(FUSION_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Fusion)
install(EXPORT FusionTargets NAMESPACE Fusion:: DESTINATION ${FUSION_CMAKE_DIR})
configure_package_config_file(${FUSION_SOURCE_DIR}/cmake/FusionConfig.cmake.in
  ${FUSION_BINARY_DIR}/FusionConfig.cmake INSTALL_DESTINATION ${FUSION_CMAKE_DIR})
write_basic_package_version_file(${FUSION_BINARY_DIR}/FusionConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${FUSION_BINARY_DIR}/FusionConfig.cmake ${FUSION_BINARY_DIR}/FusionConfigVersion.cmake
  DESTINATION ${FUSION_CMAKE_DIR})
install(DIRECTORY ${FUSION_SOURCE_DIR}/include/fusion ${FUSION_BINARY_DIR}/include/fusion
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)

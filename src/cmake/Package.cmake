# `cpack` makes Debian packages: `retrace`, the programs with their data and manuals, which runs on a bare machine, and
# `libretrace-dev`, what find_package(retrace) of another project needs; with RETRACE_PYTHON also `python3-retrace`. scripts/package builds, scripts/test-bare tests
# them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME retrace)
set(CPACK_PACKAGE_VENDOR "Retrace")
set(CPACK_PACKAGE_CONTACT "Retrace <retrace@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION
    "Offline tools: a motion-capture clip goes in, a physical simulation that performs it comes out, with its forces.")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME retrace)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)  # the libraries are found in the programs
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SUGGESTS "chromium, ffmpeg")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and static libraries of Retrace.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libretrace-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What src/cmake/retraceConfig.cmake.in looks for.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "retrace (= ${PROJECT_VERSION}), libeigen3-dev, nlohmann-json3-dev, libssl-dev, libsleef-dev, libzip-dev, libassimp-dev, libpugixml-dev, libre2-dev, libpng-dev, libgif-dev, libopenmpi-dev")

if(RETRACE_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python package of Retrace.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-retrace)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  math(EXPR python_next "${RETRACE_PYTHON_MINOR} + 1")  # the module is for one version
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "retrace (= ${PROJECT_VERSION}), python3 (>= 3.${RETRACE_PYTHON_MINOR}), python3 (<< 3.${python_next}), python3-numpy")
endif()
include(CPack)

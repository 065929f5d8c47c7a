# Playwright for the tests in a browser. Without it they are skipped, unless REQUIRED.
include(${CMAKE_CURRENT_LIST_DIR}/../../src/cmake/bring_packages.cmake)
bring_packages(${SOURCE_DIR} ${BUILD_DIR} failure)
if(failure)
  if(REQUIRED)
    message(FATAL_ERROR "Playwright cannot be brought.\n${failure}")
  endif()
  message(WARNING "The tests in a browser will be skipped.\n${failure}")
endif()

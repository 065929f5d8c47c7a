# Bundles the report page: packages by npm in the build folder, then build.mjs. A failure is a warning, unless REQUIRED:
# a machine without a network builds the rest.
include(${CMAKE_CURRENT_LIST_DIR}/../cmake/bring_packages.cmake)

bring_packages(${SOURCE_DIR} ${BUILD_DIR} failure)
if(NOT failure)
  execute_process(COMMAND ${NODE} ${SOURCE_DIR}/build.mjs ${BUILD_DIR}/node_modules ${OUTPUT}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    set(failure "build.mjs: ${status}\n${output}")
  endif()
endif()
if(failure)
  file(REMOVE ${OUTPUT})
  if(REQUIRED)
    message(FATAL_ERROR "The report page cannot be built.\n${failure}")
  endif()
  message(WARNING "The report page is not built, and `report` will say so; the next build tries again.\n${failure}")
endif()

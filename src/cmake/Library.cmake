# retrace::retrace: what a program links that includes <retrace/retrace.h>, in this project and after
# find_package(retrace).
add_library(retrace_library INTERFACE)
add_library(retrace::retrace ALIAS retrace_library)
set_target_properties(retrace_library PROPERTIES EXPORT_NAME retrace)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include/library/retrace)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/retrace/retrace.h
     ${PROJECT_BINARY_DIR}/include/library/retrace/retrace.h SYMBOLIC)
target_include_directories(retrace_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include/library> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(retrace_library INTERFACE retrace::batches retrace::body_fitting)
install(TARGETS retrace_library EXPORT retraceTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/apps/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.cpp")

# `docs`: pages of all public headers in build/PRESET/docs/html, where Doxygen is installed.
find_package(Doxygen 1.9 QUIET)
if(DOXYGEN_FOUND)
  set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/docs)
  set(DOXYGEN_STRIP_FROM_INC_PATH ${PROJECT_SOURCE_DIR}/include)
  set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR})
  set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
  set(DOXYGEN_EXTRACT_ALL YES)  # also of files without a \file command
  set(DOXYGEN_BUILTIN_STL_SUPPORT YES)
  set(DOXYGEN_GENERATE_LATEX NO)
  set(DOXYGEN_QUIET YES)
  set(DOXYGEN_WARN_IF_INCOMPLETE_DOC NO)  # a parameter whose name says all has no line of its own
  doxygen_add_docs(docs ${PROJECT_SOURCE_DIR}/include/retrace
    COMMENT "Pages of the public headers: ${PROJECT_BINARY_DIR}/docs/html/index.html")
endif()

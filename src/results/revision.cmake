# Writes HEADER with the revision of SOURCE_DIR, only when it changed, so that nothing is compiled again in vain.
set(revision "")
if(GIT)
  # A build must not take the lock of the index from a commit in progress.
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND ${GIT} rev-parse --show-toplevel
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # An unpacked release inside another repository has no revision of its own.
  if(top STREQUAL SOURCE_DIR)
    execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=12 --exclude=*
      WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
set(text "#define RETRACE_REVISION \"${revision}\"\n")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()

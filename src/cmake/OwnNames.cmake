# What the libraries call by names of their own, so that an application that links them keeps its C library: see
# include/retrace/math/elementary.h.

# The functions of math/elementary.h.
set(RETRACE_ELEMENTARY_FUNCTIONS
    sin cos sincos tan asin acos atan atan2 exp exp2 log log2 log10 pow hypot cbrt)

if(NOT CMAKE_OBJCOPY)
  message(FATAL_ERROR "objcopy is missing (package binutils)")
endif()

add_executable(retrace_own_names EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/own_names.cpp)
set_target_properties(retrace_own_names PROPERTIES OUTPUT_NAME own_names UNITY_BUILD OFF)
target_compile_options(retrace_own_names PRIVATE -O1)

# retrace_use_own_names(TARGET LIST ...): replaces the names in a static library whenever it has been made. LIST: further
# lists of names to replace, as objcopy reads them.
function(retrace_use_own_names target)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}.names)
  set(further "")
  foreach(extra ${ARGN})
    list(APPEND further --redefine-syms=${extra})
  endforeach()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND retrace_own_names $<TARGET_FILE:${target}> ${list} ${RETRACE_ELEMENTARY_FUNCTIONS}
    COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${list} ${further} $<TARGET_FILE:${target}>
    VERBATIM)
endfunction()

# retrace::process_math: the functions of math/elementary.h under their usual names, for programs that want them in the
# whole process. SOURCE defines them.
function(retrace_add_process_math source)
  add_library(retrace_process_math STATIC ${source})
  add_library(retrace::process_math ALIAS retrace_process_math)
  # Else the compiler takes these for the functions that they replace.
  target_compile_options(retrace_process_math PRIVATE -fno-builtin)
  target_link_libraries(retrace_process_math PRIVATE retrace::math)
  # Linked in even where only a shared library calls them.
  target_link_options(retrace_process_math INTERFACE LINKER:--undefined=sin)
  set_target_properties(retrace_process_math PROPERTIES EXPORT_NAME process_math UNITY_BUILD OFF)
  install(TARGETS retrace_process_math EXPORT retraceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# retrace_ode: a copy of ODE's static library whose functions are called retrace_d..., which calls those of
# math/elementary.h, and which has nothing else that a program could see: a program may use an ODE of its own beside it.
# SOURCE defines, as retrace_NAME, the functions ccd... of libccd that the copy refers to. RETRACE_ODE_NAMES becomes the
# list of ODE's functions for retrace_use_own_names().
function(retrace_copy_ode source)
  find_library(RETRACE_ODE_LIBRARY NAMES libode.a HINTS ${ODE_LIBRARY_DIRS} ${ODE_LIBDIR})
  if(NOT RETRACE_ODE_LIBRARY)
    message(FATAL_ERROR "ODE's static library, libode.a, is missing (package libode-dev)")
  endif()
  execute_process(COMMAND ${CMAKE_NM} --extern-only --format=posix ${RETRACE_ODE_LIBRARY}
                  OUTPUT_VARIABLE symbols ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\nd[A-Z][A-Za-z0-9_]* T" functions "${symbols}")
  list(TRANSFORM functions REPLACE "\n(.*) T" "\\1")
  list(REMOVE_DUPLICATES functions)
  string(REGEX MATCHALL "\nccd[A-Za-z0-9_]* U" others "${symbols}")
  list(TRANSFORM others REPLACE "\n(.*) U" "\\1")
  list(REMOVE_DUPLICATES others)
  set(names ${CMAKE_CURRENT_BINARY_DIR}/ode.names)
  set(lines "")
  foreach(function ${functions})
    string(APPEND lines "${function} retrace_${function}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${names} CONTENT "${lines}")
  set(names_of_others ${CMAKE_CURRENT_BINARY_DIR}/ode_uses.names)
  set(lines "")
  foreach(function ${others} ${RETRACE_ELEMENTARY_FUNCTIONS})
    string(APPEND lines "${function} retrace_${function}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${names_of_others} CONTENT "${lines}")
  set(visible ${CMAKE_CURRENT_BINARY_DIR}/ode.visible)
  list(JOIN functions "\n" lines)
  file(CONFIGURE OUTPUT ${visible} CONTENT "${lines}\n")

  add_library(retrace_ode STATIC ${source})
  add_library(retrace::ode ALIAS retrace_ode)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/ode.o)
  add_custom_command(TARGET retrace_ode POST_BUILD
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation --whole-archive ${RETRACE_ODE_LIBRARY} -o ${whole}
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${visible} ${whole}
    COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${names} --redefine-syms=${names_of_others} ${whole}
    COMMAND ${CMAKE_AR} q $<TARGET_FILE:retrace_ode> ${whole}
    COMMAND ${CMAKE_RANLIB} $<TARGET_FILE:retrace_ode>
    VERBATIM)
  set_target_properties(retrace_ode PROPERTIES EXPORT_NAME ode UNITY_BUILD OFF LINK_DEPENDS ${RETRACE_ODE_LIBRARY})
  target_include_directories(retrace_ode SYSTEM INTERFACE "$<BUILD_INTERFACE:${ODE_INCLUDE_DIRS}>")
  target_link_libraries(retrace_ode PRIVATE retrace::math Threads::Threads)
  install(TARGETS retrace_ode EXPORT retraceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # Its license asks for it (BSD or LGPL, as one chooses).
  install(FILES /usr/share/doc/libode-dev/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME ODE-COPYRIGHT OPTIONAL
          COMPONENT programs)
  set(RETRACE_ODE_NAMES ${names} PARENT_SCOPE)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# What is installed, and where (GNUInstallDirs). The data folder has the source tree's own layout; base/install.c finds it from
# the program, so that the whole tree may be moved.
set(ISOPHOTE_DATA ${CMAKE_INSTALL_DATADIR}/isophote)
set(ISOPHOTE_HELPERS ${CMAKE_INSTALL_LIBDIR}/isophote)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS isophote RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS isophote-hiprtc isophote_hip_nvidia number_formats
    RUNTIME DESTINATION ${ISOPHOTE_HELPERS} LIBRARY DESTINATION ${ISOPHOTE_HELPERS})
# All that data_path() is asked for.
foreach(folder scenes/library scenes/dense scenes/real shaders/headers shaders/library shaders/tests conformance/lists)
    cmake_path(GET folder PARENT_PATH parent)
    install(DIRECTORY ${folder} DESTINATION ${ISOPHOTE_DATA}/${parent} USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE PATTERN "*.c" EXCLUDE PATTERN "test_*" EXCLUDE)
endforeach()
install(FILES scenes/export/isophote_bsdfs.py DESTINATION ${ISOPHOTE_DATA}/scenes/export)
install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/completion/ DESTINATION ${CMAKE_INSTALL_DATADIR})
install(DIRECTORY share/ci DESTINATION ${ISOPHOTE_DATA})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# For other renderers: the shader library, with an example.
install(TARGETS isophote-shaders LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT library)
install(FILES shaders/include/shaders.h base/include/base.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/isophote COMPONENT library)
file(RELATIVE_PATH prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(CONFIGURE OUTPUT isophote-shaders.pc @ONLY CONTENT [[
prefix=${pcfiledir}/@prefix@
Name: isophote-shaders
Description: ASL, the shading language of Isophote: compiler, optimiser and interpreter
Version: @PROJECT_VERSION@
Cflags: -I${prefix}/@includedir@
Libs: -L${prefix}/@libdir@ -lisophote-shaders
]])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/isophote-shaders.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
install(DIRECTORY share/examples DESTINATION ${ISOPHOTE_DATA} COMPONENT library)

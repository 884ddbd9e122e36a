# What is installed, and where (GNUInstallDirs). The data folder has the source tree's own layout; base/install.c finds it from
# the program, so that the whole tree may be moved.
set(ISOPHOTE_DATA ${CMAKE_INSTALL_DATADIR}/isophote)
set(ISOPHOTE_HELPERS ${CMAKE_INSTALL_LIBDIR}/isophote)
install(TARGETS isophote RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS isophote-hiprtc isophote_hip_nvidia
    RUNTIME DESTINATION ${ISOPHOTE_HELPERS} LIBRARY DESTINATION ${ISOPHOTE_HELPERS})
# All that data_path() is asked for.
foreach(folder scenes/library scenes/real scenes/mitsuba shaders/headers shaders/library shaders/tests conformance/lists)
    cmake_path(GET folder PARENT_PATH parent)
    install(DIRECTORY ${folder} DESTINATION ${ISOPHOTE_DATA}/${parent} USE_SOURCE_PERMISSIONS
        PATTERN __pycache__ EXCLUDE PATTERN "*.c" EXCLUDE)
endforeach()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

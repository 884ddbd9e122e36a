# SPDX-License-Identifier: Apache-2.0
# What tools/package makes of an install: a Debian package. The libraries that are linked come from dpkg-shlibdeps; those that are
# opened at run time are named here: the reference's Embree, the loaders of OpenCL and Level Zero, and something that makes machine
# code for the native device.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME isophote)
set(CPACK_PACKAGE_CONTACT "The Isophote authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "conformance suite and benchmark for path-tracing compute back ends")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Does this device, driver and compiler render the right picture, how fast, and
with which work-group size? Isophote judges and times OpenCL, CUDA, HIP and
Level Zero devices and this machine's processor, with a reference renderer and
a shading language of its own (ASL, also as the library isophote-shaders).")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libembree3-3, ocl-icd-libopencl1 | libopencl1, libze1, libllvm15 | libllvm19 | gcc | clang")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd, gcc, libc6-dev")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "pkg-config")
set(CPACK_STRIP_FILES ON)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT package)
include(CPack)

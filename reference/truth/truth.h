/* SPDX-License-Identifier: Apache-2.0 */
/* What the cache of ground truths knows of the program that fills it. */
#ifndef ISOPHOTE_REFERENCE_TRUTH_H
#define ISOPHOTE_REFERENCE_TRUTH_H

/* A hash of the sources that a picture comes from, in hexadecimal digits: this folder's and those
 * of the libraries that it uses, without tests. Made by the build. */
extern const char reference_sources[33];

#endif

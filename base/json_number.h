/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as JSON writes them, whatever the locale of the process. */
#ifndef ISOPHOTE_BASE_JSON_NUMBER_H
#define ISOPHOTE_BASE_JSON_NUMBER_H

/* strtod in the C locale. */
double json_strtod(const char *s, char **end);

/* The shortest of %.15g, %.16g, %.17g that reads back as v; v is finite. */
void json_print_double(double v, char buf[32]);

#endif

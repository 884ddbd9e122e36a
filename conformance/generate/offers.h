/* What generate/ offers: ASL programs at random, and smaller ones.
 *   asl_generate.h   programs
 *   asl_generator.h  the dice, for calls of one builtin
 *   asl_reduce.h     delta debugging
 */
#ifndef ISOPHOTE_CONFORMANCE_GENERATE_OFFERS_H
#define ISOPHOTE_CONFORMANCE_GENERATE_OFFERS_H

#include "asl_generate.h"
#include "asl_generator.h"
#include "asl_reduce.h"

#endif

// Mistakes for the preprocessor.
#define F(a, b) a
#if 1 +
#endif
#bogus
#include "missing.h"
#define 3
#if 1
#else
#else
#endif
#endif
#if (1
#endif
shader test() { int x = F(1); }
#error stop it
#define F(a) a
#ifdef NEVER
//! error 3:2: expected a value in the expression of #if
//! error 5:2: '#bogus' is no directive
//! error 6:10: cannot open the include file 'missing.h'
//! error 7:9: #define needs a name
//! error 10:2: #else after #else
//! error 12:2: #endif without #if
//! error 13:2: expected ')' in the expression of #if
//! error 15:25: macro 'F' takes 2 arguments, 1 given
//! error 15:29: expected an expression, found ';'
//! error 16:2: #error stop it
//! warning 17:9: macro 'F' is defined anew, differently
//! note 2:9: it was defined here
//! error 18:2: this condition does not end

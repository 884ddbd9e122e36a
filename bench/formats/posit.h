/* SPDX-License-Identifier: Apache-2.0 */
/* Posits (Gustafson and Yonemoto, "Beating Floating Point at its Own Game", 2017) by SoftPosit, a
 * library that is loaded at run time: the file that the environment variable ISOPHOTE_SOFTPOSIT
 * names. posit8, posit16 and posit32 have 0, 1 and 2 bits of exponent, as that library's do. What
 * is no number is NaR, which is less than any number; nothing becomes 0 or NaR by rounding. */
#ifndef BENCH_POSIT_H
#define BENCH_POSIT_H

#include "number.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

/* What SoftPosit calls its types: structs of one number, passed as such. */
template <typename W> struct posit_word {
    W v;
};
template <typename W> struct posit_functions {
    typedef posit_word<W> word;
    word (*add)(word, word), (*sub)(word, word), (*mul)(word, word), (*div)(word, word);
    word (*sqrt)(word), (*of_double)(double);
    double (*to_double)(word);
    bool (*lt)(word, word);
};

/* W: uint8_t, uint16_t or uint32_t, as wide as the posit. */
template <typename W> class posit
{
    posit_word<W> w;
    explicit posit(posit_word<W> x) : w(x) {}

  public:
    static inline posit_functions<W> f; /* posit_load sets them */
    posit() : w{0} {}
    explicit posit(double x) : w(f.of_double(x)) {}
    explicit operator double() const { return f.to_double(w); }
    posit operator-() const { return posit(posit_word<W>{(W)(0u - w.v)}); }
    friend posit operator+(posit a, posit b) { return posit(f.add(a.w, b.w)); }
    friend posit operator-(posit a, posit b) { return posit(f.sub(a.w, b.w)); }
    friend posit operator*(posit a, posit b) { return posit(f.mul(a.w, b.w)); }
    friend posit operator/(posit a, posit b) { return posit(f.div(a.w, b.w)); }
    friend bool operator<(posit a, posit b) { return f.lt(a.w, b.w); }
    friend posit root(posit a) { return posit(f.sqrt(a.w)); }
};
typedef posit<uint8_t> posit8;
typedef posit<uint16_t> posit16;
typedef posit<uint32_t> posit32;

template <typename T> bool posit_symbol(void *library, const std::string &name, T *out)
{
    void *symbol = dlsym(library, name.c_str());
    static_assert(sizeof symbol == sizeof *out, "a function's address");
    std::memcpy(out, &symbol, sizeof symbol);
    return symbol != nullptr;
}

template <typename W> bool posit_functions_load(void *library, posit_functions<W> *f)
{
    const std::string p = "p" + std::to_string(8 * sizeof(W)),
                      convert = std::to_string(8 * sizeof(W));
    return posit_symbol(library, p + "_add", &f->add) &&
           posit_symbol(library, p + "_sub", &f->sub) &&
           posit_symbol(library, p + "_mul", &f->mul) &&
           posit_symbol(library, p + "_div", &f->div) &&
           posit_symbol(library, p + "_sqrt", &f->sqrt) &&
           posit_symbol(library, p + "_lt", &f->lt) &&
           posit_symbol(library, "convertDoubleToP" + convert, &f->of_double) &&
           posit_symbol(library, "convertP" + convert + "ToDouble", &f->to_double);
}

/* Empty: all posits may be used now; else why not. */
inline std::string posit_load()
{
    static const std::string why = [] {
        const char *file = std::getenv("ISOPHOTE_SOFTPOSIT");
        const std::string hint = "set ISOPHOTE_SOFTPOSIT to a library of SoftPosit's C functions "
                                 "(softposit of tools/setup.sh makes one of PyPI's source package)";
        if (!file || !*file)
            return "no SoftPosit: " + hint;
        void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return std::string(dlerror()) + "; " + hint;
        if (posit_functions_load(library, &posit8::f) &&
            posit_functions_load(library, &posit16::f) &&
            posit_functions_load(library, &posit32::f))
            return std::string();
        dlclose(library);
        return std::string(file) + " lacks SoftPosit's functions; " + hint;
    }();
    return why;
}

#endif

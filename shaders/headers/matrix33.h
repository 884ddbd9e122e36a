// matrix33.h: a matrix of three rows and columns, kept in the upper left corner of a matrix whose rest is the identity's.
// The names are those of the header that comes with OSL.
#pragma once
#define MATRIX33_H

struct matrix33 {
    matrix m;
};

// Are the last row and column those of the identity?
int isValidAs33(matrix m44)
{
    int ok = m44[3][3] == 1;
    for (int i = 0; i < 3; ++i)
        ok = ok && m44[3][i] == 0 && m44[i][3] == 0;
    return ok;
}

matrix matrix33To44(matrix33 m33) { return m33.m; }

matrix33 matrix44To33(matrix m44)
{
    matrix33 r = { m44 };
    for (int i = 0; i < 3; ++i)
        r.m[i][3] = r.m[3][i] = 0;
    r.m[3][3] = 1;
    return r;
}

matrix33 __operator__neg__(matrix33 a) { return matrix44To33(-1 * a.m); }
matrix33 __operator__mul__(matrix33 a, matrix33 b) { return matrix33(a.m * b.m); }
matrix33 __operator__mul__(matrix33 a, float b) { return matrix44To33(a.m * b); }
matrix33 __operator__mul__(matrix33 a, int b) { return matrix44To33(a.m * b); }
matrix33 __operator__mul__(float a, matrix33 b) { return matrix44To33(b.m * a); }
matrix33 __operator__mul__(int a, matrix33 b) { return matrix44To33(b.m * a); }
matrix33 __operator__div__(matrix33 a, matrix33 b) { return matrix44To33(a.m / b.m); }
matrix33 __operator__div__(matrix33 a, float b) { return matrix44To33(a.m / b); }
matrix33 __operator__div__(matrix33 a, int b) { return matrix44To33(a.m / b); }
matrix33 __operator__div__(float a, matrix33 b) { return matrix44To33(a * (1 / b.m)); }
matrix33 __operator__div__(int a, matrix33 b) { return matrix44To33(a * (1 / b.m)); }
int __operator__eq__(matrix33 a, matrix33 b) { return a.m == b.m; }
int __operator__neq__(matrix33 a, matrix33 b) { return a.m != b.m; }

float determinant(matrix33 a) { return determinant(a.m); }
matrix33 transpose(matrix33 a) { return matrix33(transpose(a.m)); }
point transform(matrix33 a, point b) { return transform(a.m, b); }
vector transform(matrix33 a, vector b) { return transform(a.m, b); }
normal transform(matrix33 a, normal b) { return transform(a.m, b); }

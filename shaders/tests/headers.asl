// The headers that come with Isophote, by the names of OSL's.
#include "matrix33.h"
#include <oslutil.h>
#include "vector2.h"
#include "color4.h"
shader headers()
{
    matrix33 a = matrix44To33(matrix(2, 1, 0, 9, 0, 4, 0, 9, 1, 0, 1, 9, 9, 9, 9, 9));
    printf("%g\n", a.m);                                           //> 2 1 0 0 0 4 0 0 1 0 1 0 0 0 0 1
    printf("%d %d\n", isValidAs33(a.m), isValidAs33(2 * a.m));     //> 1 0
    matrix33 b = a * a, c = b / a;
    printf("%g\n", b.m);                                           //> 4 6 0 0 0 16 0 0 3 1 1 0 0 0 0 1
    printf("%d %d %g\n", a == c, a != b, determinant(a));          //> 1 1 8
    printf("%g\n", matrix33To44(2.0 * -a));                        //> -4 -2 -0 0 -0 -8 -0 0 -2 -0 -2 0 0 0 0 1
    printf("%g\n", (1.0 / a * a).m);                               //> 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1
    printf("%g\n", (a / 2).m);                                     //> 1 0.5 0 0 0 2 0 0 0.5 0 0.5 0 0 0 0 1
    printf("%g\n", transpose(a).m);                                //> 2 0 1 0 1 4 0 0 0 0 1 0 0 0 0 1
    printf("%g %g\n", transform(a, point(1, 2, 3)), transform(a, vector(0, 0, 1)));   //> 5 9 3 1 0 1
    printf("%g %g\n", mod(vector2(-1, 5), 3.0).x, mod(color4(5, 1), color4(3, 0)).a);  //> 2 1
    printf("%g %g %g\n", wireframe(), wireframe("triangles", 2), wireframe("no", 1, 0));   //> 0 0 0
}

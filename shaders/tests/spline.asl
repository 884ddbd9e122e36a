// Splines: values by the formulas of each basis.
shader test()
{
    float k[5] = { 0, 0, 1, 4, 4 };
    // two segments; Catmull-Rom passes through the inner knots; at the middle of the first: (-0 + 9*0 + 9*1 - 4) / 16
    printf("%g %g %g %g\n", spline("catmull-rom", 0, k), spline("catmull-rom", 0.5, k), spline("catmull-rom", 1, k), spline("catmull-rom", 0.25, k));   //> 0 1 4 0.3125
    printf("%g %g\n", spline("linear", 0.25, k), spline("linear", 0.75, k));            //> 0.5 2.5
    printf("%g %g %g\n", spline("constant", 0.2, k), spline("constant", 0.7, k), spline("constant", 1, k));    //> 0 1 1
    float b[4] = { 0, 1, 1, 0 };
    printf("%g\n", spline("bezier", 0.5, b));               //> 0.75
    printf("%g\n", spline("bspline", 0, 0.0, 6.0, 12.0, 18.0));     //> 6
    printf("%g\n", spline("hermite", 0.5, 0.0, 1.0, 1.0, 1.0));     //> 0.5
    printf("%g %g\n", spline("linear", -3, k), spline("linear", 9, k));     //> 0 4
    printf("%g\n", spline("linear", 0.5, 4, k));            //> 0.5
    color c[4] = { color(0), color(0), color(1, 2, 3), color(1) };
    printf("%g\n", spline("linear", 0.5, c));               //> 0.5 1 1.5
    float x[6] = { 0, 0, 1, 2, 3, 3 };
    printf("%g %g %g %g\n", splineinverse("linear", 0.75, x), splineinverse("linear", -1, x), splineinverse("linear", 5, x), splineinverse("catmull-rom", 1, x));   //> 0.25 0 1 0.333333
    printf("%g\n", spline("wiggly", 0.5, k));               //> 0
}
//! says error spline: "wiggly"

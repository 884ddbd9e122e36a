// Colour spaces: values of the OSL test suite's color test, and round trips.
float err(string s, color c)
{
    color d = transformc("rgb", s, transformc(s, "rgb", c)) - c;
    return max(abs(d.r), max(abs(d.g), abs(d.b)));
}
shader test()
{
    printf("%g\n", color("hsv", 0.1, 0.2, 0.5));            //> 0.5 0.46 0.4
    printf("%g\n", color("hsv", 0.5, 1, 0.5));              //> 0 0.5 0.5
    printf("%g\n", color("hsl", 0, 0, 0.5));                //> 0.5 0.5 0.5
    printf("%g\n", color("hsl", 0.5, 1, 0.1));              //> 0 0.2 0.2
    printf("%g\n", color("YIQ", 0.5, 0.25, 0.25));          //> 0.8939 0.270375 0.649225
    printf("%g %g\n", luminance(color(0.5, 0.75, 0.75)), luminance(0.5));    //> 0.696873 0.5
    printf("%g\n", transformc("hsv", color(1, 0, 0)));      //> 0 1 1
    printf("%g\n", transformc("hsl", color(0, 0, 1)));      //> 0.666667 1 0.5
    printf("%.4f\n", transformc("xyY", color(1)));          //> 0.3127 0.3291 1.0000
    printf("%.5f\n", transformc("sRGB", color(0.5, 0.002, 0)));      //> 0.73536 0.02584 0.00000
    color c = color(0.3, 0.6, 0.2);
    printf("%d %d %d %d %d %d\n", err("hsv", c) < 1e-6, err("hsl", c) < 1e-6, err("XYZ", c) < 1e-5, err("xyY", c) < 1e-5, err("sRGB", c) < 1e-6, err("YIQ", c) < 0.003);   //> 1 1 1 1 1 1
    color bb = blackbody(6500);
    // near white, and of the exitance of a 6500 K body in the visible range
    printf("%d %d\n", abs(bb.r / bb.g - 1) < 0.1, abs(bb.b / bb.g - 1) < 0.1);   //> 1 1
    printf("%d\n", bb.g > 0 && blackbody(2000)[0] > 20 * blackbody(2000)[2]);      //> 1
    printf("%g %g\n", blackbody(0), wavelength_color(200));          //> 0 0 0 0 0 0
    color w = wavelength_color(620);
    printf("%d %d\n", w.r > 0.5, w.g < 0.2 * w.r);          //> 1 1
    printf("%g\n", transformc("klingon", color(1)));        //> 1 1 1
}
//! says error Unknown color space

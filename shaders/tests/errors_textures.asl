// Options of look-ups that there are not, or that do not fit, and those that change nothing.
shader test(int n = 0, string name = "wrap")
{
    float a = 0;
    int i = 0;
    color c = texture("a", u, v, "blurr", 1);                //! error 6:34: texture() has no option "blurr"; alpha, anisotropic, blur, errormessage, fill, firstchannel, interp
    c = environment("a", N, "filter", "cubic");              //! error 7:29: environment() has no option "filter"
    c = texture("a", u, v, "wrap", "repeat");                //! error 8:36: "wrap" has no value "repeat"; black, clamp, default, mirror, periodic
    c = texture("a", u, v, "twrap", "mirrors");              //! error 9:37: "twrap" has no value "mirrors": did you mean "mirror"?
    c = texture("a", u, v, "interp", "sharp");               //! error 10:38: "interp" has no value "sharp"; closest, cubic, linear, smartcubic
    c = texture("a", u, v, "width", "wide");                 //! error 11:37: "width" takes a float, not string
    c = texture("a", u, v, "firstchannel", 1.5);             //! error 12:44: "firstchannel" takes a int, not float
    c = texture("a", u, v, "missingcolor", 1);               //! error 13:44: "missingcolor" takes a color, not int
    c = texture("a", u, v, "subimage", -1);                  //! error 14:40: there is no subimage -1; 0 or more, or a name
    c = texture("a", u, v, "subimage", color(0));            //! error 15:40: "subimage" takes a int, not color
    c = texture("a", u, v, "subimage", 1.0);                 //! error 16:40: "subimage" takes a int, not float
    c = texture("a", u, v, "alpha", i);                      //! error 17:37: "alpha" writes a float, not int
    c = texture("a", u, v, "rwrap", "clamp", "time", 2);     //! warning 18:37: "rwrap" changes nothing of an image
                                                             //! warning 18:54: "time" changes nothing of an image
    c = environment("a", N, "wrap", "clamp");                //! warning 20:37: "wrap" changes nothing: environment() wraps around and ends at the poles
    c = texture("a", u, v, "subimage", 0, "subimage", "", "subimage", n, "", 3, name, "clamp");
    c = texture("a", u, v, "swrap", "default", "interp", "smartcubic", "blur", 1, "alpha", a);
}

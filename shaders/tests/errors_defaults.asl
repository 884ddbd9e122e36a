// Each parameter of a shader has a default value, once told and not again where it is broken.
struct pair { float a, b; };
shader errors_defaults(float a,                  //! error 3:30: parameter 'a' has no default value
                       output color c,           //! error 4:37: parameter 'c' has no default value
                       pair p, float x[2],       //! error 5:29: parameter 'p' has no default value
//! error 5:38: parameter 'x' has no default value
                       float b = "b",            //! error 7:34: cannot initialise float
                       float d = 1)
{
    c = a + d;
}

// An empty list is the default of a shader's parameter, and nothing else, as in OSL.
struct pair { float a; int b; };
pair none() { return {}; }                                   //! error 3:22: an empty list stands only as the default
color black() { return {}; }                                 //! error 4:24: an empty list stands only as the default
shader lists(float x[] = {}, pair p = {}, float y[2] = {})
{
    float z[3] = {};                                         //! error 7:18: an empty list stands only as the default
    float w[] = {};                                          //! error 8:17: an empty list stands only as the default
    pair q;
    q = {};                                                  //! error 10:9: an empty list stands only as the default
}

// Syntax errors and how parsing goes on after them.
shader test(float a = 1, int b = , float c = 2)                 //! error 2:34: expected an expression, found ','
{
    float x = 1                                                 //! error 4:16: expected ';' after the statement
    float y = (1 + 2;                                           //! error 5:21: expected ')' to close '('
    y = x +;                                                    //! error 6:12: expected an expression, found ';'
    for (int i = 0; i < 3; i++                                  //! error 7:31: expected ')' after 'for (...'
        y += 1;
    else                                                        //! error 9:5: 'else' without 'if'
        y = 2;
    floot z = 3;                                                //! error 11:5: 'floot' is no type
    float none[] ;                                              //! error 12:11: array 'none' has no length
    float w[0];                                                 //! error 13:13: an array length must be a whole number above 0
    int k = 99999999999;                                        //! error 14:13: 99999999999 does not fit in 32 bits
    int double = 3;                                             //! error 15:9: expected a name, found 'double'
    y = 1 @ 2;                                                  //! error 16:11: expected ';' after the statement, found '@'
    y = 3;
}
float g = 3;                                                    //! error 19:7: variables cannot be declared outside of shaders
color h(color a                                                 //! error 20:16: expected ')' after the parameters
{
    return a;
}
}                                                               //! error 24:1: expected a shader, a function or a struct

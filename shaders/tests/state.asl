// What the renderer answers.
shader test(float a = 1, float b = u [[ int lockgeom = 1 ]], int arr[3] = { 1, 2, 3 })
{
    int n = 0;
    float f = 0;
    printf("%d %d\n", raytype("camera"), raytype("shadow"));            //> 1 0
    printf("%d %d %d %d\n", iscameraray(), isdiffuseray(), isglossyray(), isshadowray());   //> 1 0 0 0
    printf("%d %d\n", getattribute("answer", n), n);                    //> 1 42
    printf("%d %g\n", getattribute("earth", "answer", 3, f), f);        //> 1 3.5
    printf("%d %d\n", getattribute("question", n), n);                  //> 0 42
    printf("%d %d %d\n", isconnected(a), isconstant(a), isconstant(b)); //> 0 1 0
    printf("%d %d\n", isconstant(3), isconstant(n));                    //> 1 0
    printf("%d %d %d\n", isconstant(2 * a), isconstant(!a + 1), isconstant(a + n)); //> 1 1 0
    printf("%d %g %d\n", arraylength(arr), surfacearea(), backfacing());  //> 3 1 0
    setmessage("m", color(1, 2, 3));
    color c;
    point p;
    printf("%d %g %d\n", getmessage("m", c), c, getmessage("x", c));    //> 1 1 2 3 0
    printf("%d\n", getmessage("m", p));                                 //> 0
    setmessage("m", 7);
    int x = 3;
    setmessage("x", x);
    printf("%d %d\n", getmessage("x", c), getmessage("x", x));           //> 0 0
}
//! says error type mismatch for message "m" (created as color here: 
//! says error message "m" already exists (created here: 
//! says error message "x" was queried before being set (queried here: 
//! says error type mismatch for message "x" (queried as color here: 

// Options of rays that there are not, or that do not fit.
shader test(int n = 3, string name = "maxdist", float x = 1)
{
    float a = occlusion("maxdist", -1.0);                   //! error 4:36: "maxdist" must not be negative
    a = occlusion("samples", -4);                           //! error 5:30: "samples" must be from 1 to 256
    a = occlusion("samples", 257);                          //! error 6:30: "samples" must be from 1 to 256
    a = occlusion("samples", 0);                            //! error 7:30: "samples" must be from 1 to 256
    a = occlusion("colour", 1);                             //! error 8:19: occlusion() has no option "colour"; maxdist, samples
    a = occlusion("mindist", 1);                            //! error 9:19: occlusion() has no option "mindist"
    a = occlusion(P, N, name, 1);                           //! error 10:25: occlusion() has no option that is known only when it runs
    a = occlusion("samples", 2.5);                          //! error 11:30: "samples" takes a int, not float
    a = trace(P, N, "shade", 1);                            //! error 12:30: a traced ray runs no shader
    a = trace(P, N, "shade", n);                            //! error 13:30: a traced ray runs no shader
    a = trace(P, N, "traceset", "-chair");                  //! error 14:33: scenes have no sets of objects to trace
    a = trace(P, N, "samples", 3);                          //! error 15:21: trace() has no option "samples"
    a = occlusion("maxdist", x, "samples", n);
    a = ambient_occlusion("samples", n);                    //! error 17:9: cannot fill float with a value of type closure color
    closure color c = ambient_occlusion("mindist", 1);      //! error 18:41: occlusion() has no option "mindist"
    c = ambient_occlusion("maxdist", 2) + 0.5 * ambient_occlusion();
}

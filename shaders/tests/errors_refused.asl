// What is known and refused says so.
shader test()
{
    color c = environment("sky.exr", N);                    //! error 4:15: environment() is not supported
    c = texture3d("smoke", P);                              //! error 5:9: texture3d() is not supported: volume look-up
    int n = trace(P, N);                                    //! error 6:13: trace() is not supported: shaders shoot no rays
    int r[2];
    n = gettextureinfo("a.exr", "resolution", r);           //! error 8:9: gettextureinfo() is not supported
    n = pointcloud_search("a", P, 1, 3, "x", r);            //! error 9:9: pointcloud_search() is not supported: point clouds
    n = pointcloud_get("a", r, 2, "x", r);                  //! error 10:9: pointcloud_get() is not supported
    n = pointcloud_write("a", P);                           //! error 11:9: pointcloud_write() is not supported
}

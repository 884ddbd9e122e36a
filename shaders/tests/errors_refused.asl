// What is known and refused says so.
shader test()
{
    color c = environment("sky.exr", N); // is built
    c = texture3d("smoke", P);                              //! error 5:9: texture3d() is not supported: there are no volumes
    int n = trace(P, N); // is built
    int r[2];
    n = gettextureinfo("a.exr", "resolution", r); // is built
    n = pointcloud_search("a", P, 1, 3, "x", r);            //! error 9:9: pointcloud_search() is not supported: there are no point clouds
    n = pointcloud_get("a", r, 2, "x", r);                  //! error 10:9: pointcloud_get() is not supported
    n = pointcloud_write("a", P);                           //! error 11:9: pointcloud_write() is not supported
}

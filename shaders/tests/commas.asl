// What published shaders have: commas with nothing between them, and metadata behind the parameters.
float twice(float a,, float b,) { return a + b; }
shader test [[ string help = "before" ]] (float a = 1,, float b = 2,,) [[ string author = "behind", int version = 3 ]]
{
    printf("%g\n", twice(a, b));                            //> 3
}

// A sea shell: a tube that grows as it winds about the z axis. Runs once for each vertex of a grid: u along
// the tube, from the tip, v around it.
surface shell(float turns = 3.5, float growth = 0.78, float ribs = 14, float rib = 0.06)
{
    float a = M_2PI * turns * u, b = M_2PI * v;
    float size = exp(growth * (u - 1) * turns);
    float r = size * (0.42 + rib * sin(M_2PI * ribs * turns * u));
    float c = size * 0.5 + r * cos(b);
    P = point(c * cos(a), c * sin(a), r * sin(b) - 1.4 * size + 0.7);
}

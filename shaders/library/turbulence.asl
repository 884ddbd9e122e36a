// Turbulence: the sum of |noise| over octaves, with its sharp creases.
shader turbulence(float frequency = 5, int octaves = 6, float gain = 0.5, output float fac = 0, output color Cout = 0)
{
    point p = P * frequency;
    float a = 1, sum = 0;
    for (int i = 0; i < octaves; i++) {
        sum += a * abs(snoise(p));
        a *= gain;
        p *= 2.03;
    }
    fac = sum;
    Cout = sum;
}

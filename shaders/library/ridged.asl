// Ridged multifractal (Musgrave): mountain crests; each octave is weighted by the one before.
shader ridged(float frequency = 3, int octaves = 7, float lacunarity = 2.1, float H = 0.9, float offset = 1,
              output float height = 0, output color Cout = 0)
{
    point p = P * frequency;
    float weight = 1, f = 1;
    for (int i = 0; i < octaves; i++) {
        float signal = offset - abs(snoise(p));
        signal *= signal * weight;
        weight = clamp(signal * 2, 0, 1);
        height += signal * pow(f, -H);
        f *= lacunarity;
        p *= lacunarity;
    }
    Cout = height * 0.5;
}

// Fractional Brownian motion of Perlin noise; octaves that one sample cannot resolve fade out.
shader fbm(point position = P, float frequency = 4, int octaves = 6, float lacunarity = 2.02, float gain = 0.5,
           color low = color(0.1, 0.2, 0.4), color high = color(1), output float fac = 0, output color Cout = 0)
{
    point p = position * frequency;
    float amplitude = 1, sum = 0, total = 0;
    for (int i = 0; i < octaves; i++) {
        float width = length(filterwidth(p));
        float keep = 1 - smoothstep(0.4, 1, width);
        sum += amplitude * keep * snoise(p);
        total += amplitude;
        amplitude *= gain;
        p *= lacunarity;
    }
    fac = clamp(0.5 + 0.5 * sum / max(total, 1e-6) * 1.8, 0, 1);
    Cout = mix(low, high, fac);
}

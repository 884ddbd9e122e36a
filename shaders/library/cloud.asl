// Cloud: density of warped fractal noise with a soft threshold, lit by how much it falls off towards the light.
float density(point p, int octaves)
{
    point q = p + 0.6 * (vector)snoise(p * 0.7);
    float sum = 0, a = 0.5;
    for (int i = 0; i < octaves; i++) {
        sum += a * noise(q);
        q = q * 2.02 + vector(1.7, 9.2, 3.3);
        a *= 0.52;
    }
    return sum;
}
shader cloud(float frequency = 3, float cover = 0.5, float softness = 0.15, int octaves = 7, vector light = vector(0.5, 0.7, 0.3),
             color sky = color(0.25, 0.45, 0.8), color lit = color(1), color shadow = color(0.5, 0.53, 0.6), output color Cout = 0,
             output float alpha = 0)
{
    point p = P * frequency;
    float d = density(p, octaves), e = density(p + 0.12 * normalize(light), octaves);
    alpha = smoothstep(1 - cover - softness, 1 - cover + softness, d);
    float brightness = clamp(0.6 + 4 * (d - e), 0, 1);
    Cout = mix(sky, mix(shadow, lit, brightness), alpha);
}

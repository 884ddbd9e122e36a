// Rust that gathers where little light comes and water stays: the border between metal and rust is
// noise, moved by ambient occlusion. In a scene; on a grid nothing hides anything.
shader rust_mask(float amount = 0.3 [[ float min = 0, float max = 1 ]], float gather = 0.55, float reach = 0.5, int rays = 16,
                 float frequency = 4, color metal = color(0.56, 0.57, 0.58),
                 output color Cout = 0, output float metallic = 1, output float roughness = 0.3)
{
    float hidden = occlusion("maxdist", reach, "samples", rays);
    point p = P * frequency;
    float f = 0, a = 0.5;
    for (int i = 0; i < 5; i++) {
        f += a * noise(p);
        p = p * 2.07 + vector(1.3, 5.1, 2.2);
        a *= 0.5;
    }
    float edge = 1 - amount - gather * hidden, mask = smoothstep(edge - 0.04, edge + 0.04, f);
    float tone = noise(P * frequency * 9), speck = noise("simplex", P * frequency * 30);
    color tones[5] = { color(0.08, 0.03, 0.02), color(0.08, 0.03, 0.02), color(0.28, 0.09, 0.03), color(0.55, 0.24, 0.07), color(0.6, 0.3, 0.12) };
    color oxide = spline("linear", clamp(tone + 0.2 * speck, 0, 1), tones);
    Cout = mix(metal * (0.9 + 0.1 * tone), oxide, mask);
    metallic = 1 - mask;
    roughness = mix(0.25 + 0.15 * tone, 0.9, mask);
}

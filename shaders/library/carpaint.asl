// Car paint: a base that darkens at grazing angles, flakes with normals of their own, orange peel for the clear coat.
shader carpaint(color base = color(0.5, 0.02, 0.03), color edge = color(0.05, 0, 0.02), float flake_scale = 180,
                float flake_amount = 0.35, float peel = 0.02, output color Cout = 0, output normal flake_normal = 0,
                output normal coat_normal = 0, output float metallic = 0.6, output float roughness = 0.35)
{
    vector view = length(I) > 0 ? -normalize(I) : vector(N);
    float facing = clamp(dot(view, N), 0, 1);
    vector r = 2 * (vector)cellnoise(P * flake_scale) - 1;
    float has = step(1 - flake_amount, cellnoise(P * flake_scale, 5));
    flake_normal = normalize(N + 0.35 * has * normal(r));
    float glint = has * pow(clamp(dot(view, flake_normal), 0, 1), 30);
    Cout = mix(edge, base, pow(facing, 1.5)) + 0.6 * glint * mix(base, color(1), 0.5);
    coat_normal = normalize(N + peel * normal((vector)snoise(P * 25)));
    roughness = mix(0.35, 0.2, has);
}

// Stucco: a bump of rounded noise, as height and as a bent normal.
shader stucco(float frequency = 25, float amount = 0.02, color base = color(0.86, 0.8, 0.7), output color Cout = 0, output normal bent = 0)
{
    float n = 0.5 + 0.5 * (float)snoise(P * frequency) + 0.25 * (float)snoise(P * frequency * 2.3);
    float h = amount * pow(clamp(n, 0, 1), 2);
    point q = P + h * vector(N);
    bent = normalize((normal)calculatenormal(q));
    Cout = base * (0.75 + 0.25 * clamp(dot(bent, normalize(vector(-0.5, 0.6, 0.8))), 0, 1));
}

// Lava: a crust of plates over glowing rock whose colour is that of a black body.
shader lava(float frequency = 5, float heat = 1300, color crust = color(0.03, 0.025, 0.025), output color Cout = 0, output color glow = 0)
{
    point p = P * frequency + 0.8 * (vector)snoise(P * 2);
    float crack = 1;
    for (int i = 0; i < 3; i++) {
        crack = min(crack, abs((float)snoise(p)) * (1 + 0.7 * i));
        p = p * 1.9 + 11;
    }
    float open = 1 - smoothstep(0.0, 0.22, crack);
    float kelvin = heat * (0.55 + 0.45 * open);
    float Y = dot((vector)blackbody(heat), vector(0.2126, 0.7152, 0.0722)); // the renderers' luminance
    glow = open * blackbody(kelvin) / max(Y, 1e-6);
    Cout = crust * (0.6 + 0.8 * (float)noise(P * 40)) + glow;
}

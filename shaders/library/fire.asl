// Fire: noise that rises and tears, coloured as a black body from 900 to 2600 kelvin.
shader fire(float frequency = 3, float seconds = 0, float height = 0.9, output color Cout = 0, output float temperature = 0)
{
    float y = 1 - v, sum = 0, a = 0.5;
    point p = point(u * frequency * 1.6, y * frequency - seconds * 1.5, seconds * 0.4);
    p += 0.35 * (vector)snoise(p * 0.9);
    for (int i = 0; i < 5; i++) {
        sum += a * (float)noise(p, seconds);
        p *= 2.1;
        a *= 0.52;
    }
    float body = 1 - pow(abs(2 * u - 1), 2), flame = clamp((sum * 1.5 + 0.25) * body - y / height + 0.25, 0, 1);
    temperature = 900 + 1700 * flame;
    color b = blackbody(temperature), w = blackbody(2000);
    Cout = flame * flame * 3 * b / max(w.r, 1e-6);
}

// Thin film: interference of the two reflections of a soap film or an oil slick, wavelength by wavelength.
shader thinfilm(float thickness = 350 [[ string help = "nanometres" ]], float vary = 350, float frequency = 2, float ior = 1.33,
                output color Cout = 0, output float nanometres = 0)
{
    point p = P * frequency + 0.7 * (vector)snoise(P * 3);
    nanometres = thickness + vary * (0.5 + 0.5 * (float)snoise(p)) + 200 * v;
    vector view = length(I) > 0 ? -normalize(I) : vector(N);
    float sin_t = sqrt(max(0, 1 - pow(dot(view, N), 2))) / ior, cos_t = sqrt(1 - sin_t * sin_t);
    color sum = 0, white = 0;
    for (int i = 0; i < 24; i++) {
        float wavelength = 400 + 300 * (i + 0.5) / 24;
        color c = wavelength_color(wavelength);
        float phase = M_2PI * 2 * ior * nanometres * cos_t / wavelength + M_PI;
        sum += c * (0.5 + 0.5 * cos(phase));
        white += c;
    }
    Cout = sum / white;
}

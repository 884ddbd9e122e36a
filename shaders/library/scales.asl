// Overlapping scales in rows, each shaded from its root to its rim.
shader scales(float columns = 12, float rows = 14, color root = color(0.05, 0.2, 0.18), color rim = color(0.5, 0.75, 0.45), output color Cout = 0,
              output float bump = 0)
{
    float s = u * columns, t = v * rows, best = -1;
    for (int k = 2; k >= 0; k--) { // the row in front is drawn last
        float row = floor(t) + k - 1, x = s + 0.5 * mod(row, 2), i = floor(x);
        float dx = x - i - 0.5, dy = (t - row) * columns / rows, d = hypot(dx, dy);
        if (d < 0.62 && dy >= -0.05) {
            best = d / 0.62;
            float id = cellnoise(i, row);
            Cout = mix(root, rim, best * best) * (0.8 + 0.4 * id) * (0.7 + 0.3 * cos(dx * 5));
            bump = sqrt(max(0, 1 - best * best));
        }
    }
    if (best < 0)
        Cout = root * 0.4;
}

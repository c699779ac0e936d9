"""The eight applications in NumPy, independent of the compiler: what `task-programs` must compute.

Each function takes the size, the number of steps and the options of `task-programs`, and gives the results in the order
in which the program returns them.
"""

import numpy as np

PHI, SQRT2, SQRT3 = 0.6180339887498949, 0.41421356237309515, 0.7320508075688772


def spread(n, step, lo, hi):
    k = np.arange(1, n + 1, dtype=np.float64) * step
    return lo + (hi - lo) * (k - np.floor(k))


def black_scholes_inputs(n):
    return spread(n, PHI, 5.0, 30.0), spread(n, SQRT2, 1.0, 100.0), spread(n, SQRT3, 0.25, 10.0)


def black_scholes(n, steps):
    s, x, t = black_scholes_inputs(n)
    rate, volatility = 0.02, 0.3
    if steps == 0:
        raise ValueError("prices are undefined before the first step")

    def normal(d):
        k = 1 / (1 + 0.2316419 * abs(d))
        fit = np.polyval([1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153, 0], k)
        tail = 0.3989422804014327 * np.exp(-d * d / 2) * fit
        return np.where(d > 0, 1 - tail, tail)

    d1 = (np.log(s / x) + (rate + volatility**2 / 2) * t) / (volatility * np.sqrt(t))
    d2 = d1 - volatility * np.sqrt(t)
    discounted = x * np.exp(-rate * t)
    call = s * normal(d1) - discounted * normal(d2)
    return call, discounted * (1 - normal(d2)) - s * (1 - normal(d1))


def jacobi_system(n):
    a = spread(n * n, PHI, 0.0, 1.0).reshape(n, n)
    return a + n * np.eye(n), spread(n, SQRT2, 0.0, 1.0)


def jacobi(n, steps):
    a, b = jacobi_system(n)
    d = np.diag(a)
    rest = a - np.diag(d)
    x = np.zeros(n)
    for _ in range(steps):
        x = (b - rest @ x) / d
    return (x,)


def stencil_start(n):
    i = np.arange(n + 2.0)
    g = np.zeros((n + 2, n + 2))
    g[0] = 1 + i / (n + 1)
    g[:, 0] = 1 - i / (n + 1)
    g[-1] = 2 * i / (n + 1)
    g[:, -1] = 2
    return g


def stencil(n, steps):
    g = stencil_start(n)
    for _ in range(steps):
        g[1:-1, 1:-1] = 0.2 * (g[1:-1, 1:-1] + g[:-2, 1:-1] + g[1:-1, 2:] + g[1:-1, :-2] + g[2:, 1:-1])
    return (g,)


def poisson(x):
    """The 5-point matrix (4, -1) on a square grid of unknowns, times x."""
    m = int(len(x) ** 0.5 + 0.5)
    g = np.pad(x.reshape(m, m), 1)
    return (4 * g[1:-1, 1:-1] - g[:-2, 1:-1] - g[2:, 1:-1] - g[1:-1, :-2] - g[1:-1, 2:]).ravel()


def right_hand_side(m, rhs):
    if rhs == "ones":
        return np.ones(m * m)
    h = 1 / (m + 1)
    x = np.arange(1, m + 1) * h
    y = x[:, None] - 0.5
    wave = lambda k: np.sin(k * np.pi * x) * np.cos(k * np.pi * y)
    return (h * h * (wave(1) + wave(5))).ravel()


def conjugate_gradients(m, steps, rhs, precondition):
    b = right_hand_side(m, rhs)
    x, p, r, rho = np.zeros(m * m), np.zeros(m * m), b.copy(), 1.0
    for _ in range(steps):
        z = precondition(r)
        old, rho = rho, r @ z
        p = rho / old * p + z
        q = poisson(p)
        alpha = rho / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
    return (x,)


def cg(m, steps, rhs="ones"):
    return conjugate_gradients(m, steps, rhs, lambda r: r)


def gmg(m, steps, rhs="ones"):
    v = spread(m * m, PHI, 0.0, 1.0)
    for _ in range(15):
        unit = v / np.sqrt(v @ v)
        v = poisson(unit) / 4
        radius = unit @ v
    omega = 4 / 3 / radius

    def cycle(r):
        x = omega * r / 4
        residual = (r - poisson(x)).reshape(m, m)
        fine = np.zeros((m, m))
        # The coarse matrix is 4 times the identity, and its weight is 4/3.
        fine[::2, ::2] = 4 / 3 * residual[::2, ::2] / 4
        x = x + fine.ravel()
        return x + omega * (r - poisson(x)) / 4

    return conjugate_gradients(m, steps, rhs, cycle)


def bicgstab(m, steps, rhs="ones"):
    b = right_hand_side(m, rhs)
    x, r, shadow, p = np.zeros(m * m), b.copy(), b.copy(), b.copy()
    for _ in range(steps):
        ap = poisson(p)
        alpha = (r @ shadow) / (ap @ shadow)
        s = r - alpha * ap
        a_s = poisson(s)
        omega = (a_s @ s) / (a_s @ a_s)
        x = x + alpha * p + omega * s
        old = r @ shadow
        r = s - omega * a_s
        new = r @ shadow
        p = r + alpha / omega * new / old * (p - omega * ap)
        if abs(new) < 1e-8:
            shadow, p = r.copy(), r.copy()
    return (x,)


def cfd(n, steps, init="wave", sweeps=5):
    u, v, p = np.zeros((n, n)), np.zeros((n, n)), np.ones((n, n))
    if init == "wave":
        x, y = 2 * np.pi * np.arange(n) / n, np.linspace(0, 1, n)[:, None]
        u = 4 * y * (1 - y) + 0.5 * np.sin(np.pi * y) * np.cos(x)
        v = 0.3 * np.sin(2 * np.pi * y) * np.sin(2 * x)
        p = 1 + 0.1 * np.cos(np.pi * y) * np.sin(x)
        for wall in (u, v):
            wall[0] = wall[-1] = 0
    h = 2 / (n - 1)
    dt, nu, push = 0.0009 * h * h / 0.1, 0.1, 1.0
    # Periodic in x, so whole rows may be rolled.
    east, west = lambda a: np.roll(a, -1, 1)[1:-1], lambda a: np.roll(a, 1, 1)[1:-1]
    north, south, here = lambda a: a[2:], lambda a: a[:-2], lambda a: a[1:-1]
    for _ in range(steps):
        ux, uy = (east(u) - west(u)) / (2 * h), (north(u) - south(u)) / (2 * h)
        vx, vy = (east(v) - west(v)) / (2 * h), (north(v) - south(v)) / (2 * h)
        b = (ux + vy) / dt - ux * ux - 2 * uy * vx - vy * vy
        for _ in range(sweeps):
            q = p.copy()
            p[1:-1] = (east(q) + west(q) + north(q) + south(q)) / 4 - h * h / 4 * b
            p[-1] = p[-2]
            p[0] = p[1]

        def advance(f, gradient, force):
            diffusion = east(f) + west(f) + north(f) + south(f) - 4 * here(f)
            transport = here(u) * (here(f) - west(f)) + here(v) * (here(f) - south(f))
            new = np.zeros_like(f)
            new[1:-1] = here(f) - dt / h * transport - dt * gradient / (2 * h) + nu * dt / h**2 * diffusion + force * dt
            return new

        u, v = advance(u, east(p) - west(p), push), advance(v, north(p) - south(p), 0)
    return u, v, p


def swe(n, steps, init="wave", bottom="bump"):
    g, theta, thin_depth, no_depth = 9.81, 1.3, 1e-4, 1e-12
    vertex = np.linspace(0, 1, n + 1)
    bed = np.zeros((n + 1, n + 1))
    if bottom == "bump":
        bed = 0.4 * np.exp(-((vertex - 0.6) ** 2 + (vertex[:, None] - 0.5) ** 2) / 0.02)
    bed_x, bed_y = (bed[1:] + bed[:-1]) / 2, (bed[:, 1:] + bed[:, :-1]) / 2
    bed_c = (bed_x[:, 1:] + bed_x[:, :-1]) / 2
    rise_x, rise_y = (bed_x[:, 1:] - bed_x[:, :-1]) * n, (bed_y[1:] - bed_y[:-1]) * n
    s = (np.arange(n) + 0.5) / n
    surface = np.ones((n, n))
    if init == "wave":
        surface += 0.1 * np.exp(-((s - 0.3) ** 2 + (s[:, None] - 0.4) ** 2) / 0.005)
    elif init == "dam":
        surface[:, n // 2 :] = 0.5
    dt = 0.2 / n / (g * 1.2) ** 0.5

    def complete(inner):
        """Dries out thin cells and extrapolates the ghost layers of what was there before; gives depth, too."""
        q = np.zeros((3, n + 4, n + 4))
        q[:, 2:-2, 2:-2] = inner
        for axis in (2, 1):
            a = np.moveaxis(q, axis, 0)
            for outer, middle, edge, next_ in ((0, 1, 2, 3), (-1, -2, -3, -4)):
                step = a[edge] - a[next_]
                a[middle] = a[edge] + step
                a[outer] = a[middle] + step
        core = q[:, 2:-2, 2:-2]
        h = core[0] - bed_c
        core[0] = np.where(h < no_depth, bed_c, core[0])
        core[1:] = np.where(h < thin_depth, 0, core[1:])
        return q, np.where(h < no_depth, 0, h)

    def slope(a):
        back, ahead = a[1:-1] - a[:-2], a[2:] - a[1:-1]
        ratio = back / np.where(ahead == 0, 1, ahead)
        limited = np.clip(np.minimum(np.minimum(theta, theta * ratio), (1 + ratio) / 2), 0, None)
        return limited * ahead / 2

    def side(w, normal, tangent, height):
        h = w - height
        is_dry = h <= thin_depth
        safe = np.where(is_dry, 1, h)
        un, ut = np.where(is_dry, 0, normal / safe), np.where(is_dry, 0, tangent / safe)
        q = np.stack([h + height, h * un, h * ut])
        flux = np.stack([q[1], q[1] * un + g * h * h / 2, q[2] * un])
        c = np.sqrt(g * h)
        return q, flux, un + c, un - c

    def flux(w, normal, tangent, height):
        """Along the first axis: fluxes of (w, normal momentum, tangential momentum) through n + 1 faces."""
        fields = [w, normal, tangent]
        slopes = [slope(a) for a in fields]
        low = side(*(a[1:-2] + d[:-1] for a, d in zip(fields, slopes)), height)
        high = side(*(a[2:-1] - d[1:] for a, d in zip(fields, slopes)), height)
        right = np.maximum(np.maximum(low[2], high[2]), 0)
        left = np.minimum(np.minimum(low[3], high[3]), 0)
        gap = right - left
        top = right * low[1] - left * high[1] + right * left * (high[0] - low[0])
        return np.where(gap == 0, 0, top / np.where(gap == 0, 1, gap))

    def rates(q, h):
        rows = [a[2:-2].T for a in q]
        fx = flux(rows[0], rows[1], rows[2], bed_x.T).transpose(0, 2, 1)
        columns = [a[:, 2:-2] for a in q]
        fy = flux(columns[0], columns[2], columns[1], bed_y)[[0, 2, 1]]
        change = (fx[:, :, :-1] - fx[:, :, 1:]) * n + (fy[:, :-1] - fy[:, 1:]) * n
        change[1] -= g * h * rise_x
        change[2] -= g * h * rise_y
        return change

    inner = np.stack([surface, 0 * surface, 0 * surface])
    q, h = complete(inner)
    for _ in range(steps):
        q1, h1 = complete(q[:, 2:-2, 2:-2] + dt * rates(q, h))
        q, h = complete((q[:, 2:-2, 2:-2] + q1[:, 2:-2, 2:-2] + dt * rates(q1, h1)) / 2)
    return tuple(q[:, 2:-2, 2:-2])


PROGRAMS = {
    "black-scholes": black_scholes,
    "jacobi": jacobi,
    "cg": cg,
    "bicgstab": bicgstab,
    "gmg": gmg,
    "cfd": cfd,
    "swe": swe,
    "stencil": stencil,
}

"""Compiled recurrences behind the Fourier inversion: the only module of the exact nulls that imports numba.

Both kernels run the same recurrence over the blocks of a cluster. ``W`` is the weight of the states in which every
prediction before ``g`` is settled and none from ``g`` on is covered; a queue holds, for each block already passed, the
weight of the states whose last event fell there. A block (u, g, h) does

    while the settled front is before g:  W <- z W + (queue entries that reach exactly the new front)
    V <- u (W + sum of the queue);  push V with reach h

and a cluster's factor is W once every prediction is settled. The sum of the queue is kept as two stacks with suffix
sums, because dropping entries by subtraction loses all digits when the dropped one was large.
"""

from __future__ import annotations

import math

import numpy as np

from nofluke.compiled import compiled

#: Angles worked on together, so that the inner loops run on vector registers.
LANES = 32

# Where the parts of a row of lanes start: settled weight, total of the newer half of the queue, z; and, for an entry of
# the queue, its own weight and the sum of it and all newer ones in its half. One array with constant offsets lets
# the compiler see that they do not overlap.
WR, WI, TR, TI, ZR, ZI = 0, LANES, 2 * LANES, 3 * LANES, 4 * LANES, 5 * LANES
VR, VI, FR, FI = 0, LANES, 2 * LANES, 3 * LANES

#: Reference weights are brought back to order one when they leave 2**-RESCALE .. 2**RESCALE.
RESCALE = 240

#: Blocks between two looks at whether a batch of angles can still matter, at least.
CHECK = 48


@compiled()
def reference(clusters, u, z, capacity, moments, exponent, run):  # type: ignore[no-untyped-def]
    """Run the recurrence at a real point, with first and second derivatives in log x and log z.

    Fills, for each cluster, ``moments`` (log f, mean number of events N and of uncovered predictions U, var N, cov(N,
    U), var U), where f's power of two is apart in ``exponent``, and ``run``: ``mantissa``, f without that power; for
    each block, ``shift``, the power of two taken out after it; and the weights of all live states at some blocks,
    ``check_at[b]`` being where they start in ``weights`` (-1: no check). The complex recurrence follows the same powers
    and compares itself with these weights to know early that it cannot matter any more.
    """
    first, size, length, g, h, _ = clusters
    mantissa, shift, check_at, weights = run
    entry = np.zeros((2, capacity + 1, 6))
    suffix = np.zeros((capacity + 1, 6))
    reach = np.zeros((2, capacity + 1), dtype=np.int64)
    total = np.zeros(6)
    w = np.zeros(6)
    s = np.zeros(6)
    recorded = 0
    for q in range(len(size)):
        w[:] = 0.0
        w[0] = 1.0
        total[:] = 0.0
        suffix[0, :] = 0.0
        side = 0
        head = 0
        n_front = 0
        n_back = 0
        settled = 0
        exponent[q] = 0
        since_check = 0
        for b in range(first[q], first[q + 1] + 1):
            last = b == first[q + 1]
            target = size[q] if last else g[b]
            while settled < target:
                settled += 1
                w[5] = z * (w[5] + 2.0 * w[2] + w[0])
                w[4] = z * (w[4] + w[1])
                w[3] *= z
                w[2] = z * (w[2] + w[0])
                w[1] *= z
                w[0] *= z
                while True:
                    if head == n_front:
                        if n_back == 0 or reach[side, 0] != settled:
                            break
                        suffix[n_back, :] = 0.0
                        for i in range(n_back - 1, -1, -1):
                            for c in range(6):
                                suffix[i, c] = suffix[i + 1, c] + entry[side, i, c]
                        n_front = n_back
                        head = 0
                        side = 1 - side
                        n_back = 0
                        total[:] = 0.0
                    elif reach[1 - side, head] != settled:
                        break
                    for c in range(6):
                        w[c] += entry[1 - side, head, c]
                    head += 1
            if last:
                break
            for c in range(6):
                s[c] = w[c] + (total[c] + suffix[head, c])
            u0, u1, u2 = u[length[b], 0], u[length[b], 1], u[length[b], 2]
            entry[side, n_back, 0] = u0 * s[0]
            entry[side, n_back, 1] = u0 * s[1] + u1 * s[0]
            entry[side, n_back, 2] = u0 * s[2]
            entry[side, n_back, 3] = u0 * s[3] + 2.0 * u1 * s[1] + u2 * s[0]
            entry[side, n_back, 4] = u0 * s[4] + u1 * s[2]
            entry[side, n_back, 5] = u0 * s[5]
            for c in range(6):
                total[c] += entry[side, n_back, c]
            reach[side, n_back] = h[b]
            n_back += 1

            power = math.frexp(s[0])[1]
            shift[b] = 0
            if power > RESCALE or power < -RESCALE:
                shift[b] = power
                exponent[q] += power
                scale = 2.0**-power
                for c in range(6):
                    w[c] *= scale
                    total[c] *= scale
                    for i in range(head, n_front):
                        entry[1 - side, i, c] *= scale
                        suffix[i, c] *= scale
                    for i in range(n_back):
                        entry[side, i, c] *= scale

            since_check += 1
            live = 1 + n_front - head + n_back
            check_at[b] = -1
            if since_check >= CHECK and since_check >= 4 * live:
                since_check = 0
                check_at[b] = recorded
                weights[recorded] = w[0]
                recorded += 1
                for i in range(head, n_front):
                    weights[recorded] = entry[1 - side, i, 0]
                    recorded += 1
                for i in range(n_back):
                    weights[recorded] = entry[side, i, 0]
                    recorded += 1
        mantissa[q] = w[0]
        events = w[1] / w[0]
        uncovered = w[2] / w[0]
        power = math.frexp(w[0])[1]
        exponent[q] += power
        moments[q, 0] = math.log(math.ldexp(w[0], -power))
        moments[q, 1] = events
        moments[q, 2] = uncovered
        moments[q, 3] = w[3] / w[0] - events * events
        moments[q, 4] = w[4] / w[0] - events * uncovered
        moments[q, 5] = w[5] / w[0] - uncovered * uncovered


@compiled(fastmath={"contract"})
def _cluster_factor(q, clusters, run, ur, ui, alive, state, queue, reach, bound):  # type: ignore[no-untyped-def]
    """One cluster's factor at LANES angles psi that share phi: the block up to which it was needed.

    That is the end of the cluster: the factors are in ``state[WR]`` and ``state[WI]``, on the scale of the reference
    mantissa. Or it lies before: on every lane k the ratio of complex to reference weight fell below ``alive[k]`` on all
    live states; ``bound[k]`` is the largest of these ratios, and since no later weight can grow faster than its
    reference, it bounds the factor.
    """
    first, size, length, g, h, _ = clusters
    _, shift, check_at, weights = run
    for k in range(LANES):
        state[WR + k] = 1.0
        state[WI + k] = 0.0
        state[TR + k] = 0.0
        state[TI + k] = 0.0
    for k in range(2 * LANES):
        queue[0, 0, FR + k] = 0.0
        queue[1, 0, FR + k] = 0.0
    side = 0  # which half of the queue takes new entries; the other half gives back the old ones
    head = 0
    n_front = 0
    n_back = 0
    settled = 0
    for b in range(first[q], first[q + 1] + 1):
        last = b == first[q + 1]
        target = size[q] if last else g[b]
        while settled < target:
            settled += 1
            for k in range(LANES):
                wr = state[WR + k]
                wi = state[WI + k]
                state[WR + k] = state[ZR + k] * wr - state[ZI + k] * wi
                state[WI + k] = state[ZR + k] * wi + state[ZI + k] * wr
            while True:
                if head == n_front:
                    if n_back == 0 or reach[side, 0] != settled:
                        break
                    for k in range(2 * LANES):
                        queue[side, n_back, FR + k] = 0.0
                    for i in range(n_back - 1, -1, -1):
                        for k in range(2 * LANES):
                            queue[side, i, FR + k] = queue[side, i + 1, FR + k] + queue[side, i, VR + k]
                    n_front = n_back
                    head = 0
                    side = 1 - side
                    n_back = 0
                    for k in range(2 * LANES):
                        state[TR + k] = 0.0
                elif reach[1 - side, head] != settled:
                    break
                for k in range(2 * LANES):
                    state[WR + k] += queue[1 - side, head, VR + k]
                head += 1
        if last:
            break
        other = 1 - side
        a = ur[length[b]]
        c = ui[length[b]]
        for k in range(LANES):
            sr = state[WR + k] + (state[TR + k] + queue[other, head, FR + k])
            si = state[WI + k] + (state[TI + k] + queue[other, head, FI + k])
            vr = a * sr - c * si
            vi = a * si + c * sr
            queue[side, n_back, VR + k] = vr
            queue[side, n_back, VI + k] = vi
            state[TR + k] += vr
            state[TI + k] += vi
        reach[side, n_back] = h[b]
        n_back += 1

        if shift[b] != 0:
            scale = 2.0 ** -shift[b]
            for k in range(4 * LANES):
                state[WR + k] *= scale
            for i in range(head, n_front):
                for k in range(4 * LANES):
                    queue[other, i, VR + k] *= scale
            for i in range(n_back):
                for k in range(2 * LANES):
                    queue[side, i, VR + k] *= scale

        at = check_at[b]
        if at >= 0:
            inverse = 1.0 / weights[at] if weights[at] > 0.0 else 0.0
            for k in range(LANES):
                bound[k] = math.hypot(state[WR + k], state[WI + k]) * inverse
            for i in range(n_front - head + n_back):
                weight = weights[at + 1 + i]
                inverse = 1.0 / weight if weight > 0.0 else 0.0
                half = other if i < n_front - head else side
                j = head + i if i < n_front - head else i - (n_front - head)
                for k in range(LANES):
                    er = queue[half, j, VR + k] * inverse
                    ei = queue[half, j, VI + k] * inverse
                    bound[k] = max(bound[k], math.sqrt(er * er + ei * ei))
            negligible = True
            for k in range(LANES):
                negligible = negligible and bound[k] < alive[k]
            if negligible:
                return b
    return first[q + 1]


@compiled(error_model="numpy")
def invert(clusters, run, singles, lengths, capacity, point, n_events, n_phi, n_psi, slope, weight, tau, most):  # type: ignore[no-untyped-def]
    """Sum the characteristic function over all angles phi: what is left depends on psi alone.

    Returns, for the ``n_psi`` angles psi_j = 2 pi j / n_psi, the mean over the ``n_phi`` angles phi of F(x e^{i phi}, y
    e^{i psi}) / F(x, y) e^{-i (m phi + n' psi)}, as real and imaginary parts; a bound on the sum over j of
    ``weight[j]`` times the modulus of what was left out; and the same sum of moduli for what was not, on which rounding
    errors depend. n' is the number of predictions that are counted by their misses.

    Every angle is looked at: it is either worked out, or left with a proof that ``weight[j]`` times its modulus is
    below ``tau``. Half of the angles follow from the other half by complex conjugation. After passing over ``most``
    blocks it gives up, and what was left out is infinite.
    """
    ell, p, z, free = point
    single_length, single_size, single_count, single_by_hits, single_share, single_total = singles
    first, _, _, _, _, count = clusters
    mantissa = run[0]
    passed = 0
    out_r = np.zeros(n_psi)
    out_i = np.zeros(n_psi)
    state = np.zeros(6 * LANES)
    queue = np.zeros((2, capacity + 1, 4 * LANES))
    reach = np.zeros((2, capacity + 1), dtype=np.int64)
    bound = np.zeros(LANES)
    alive = np.zeros(LANES)
    pr = np.zeros(LANES)
    pi = np.zeros(LANES)
    ur = np.zeros(len(lengths))
    ui = np.zeros(len(lengths))
    xr = np.zeros(len(single_length))
    xi = np.zeros(len(single_length))
    half_psi = math.pi / n_psi
    left_out = 0.0
    moduli = 0.0
    largest = weight.max()
    all_weights = weight.sum()
    for k_phi in range(n_phi // 2 + 1):
        paired = k_phi > 0 and 2 * k_phi != n_phi
        phi = 2.0 * math.pi * k_phi / n_phi
        # log of (1 + x e^{i phi}) / (1 + x), accurate for small angles
        sine = math.sin(0.5 * phi)
        decay = 4.0 * p * math.exp(-ell) * sine * sine
        lam_r = 0.5 * math.log1p(-decay) if decay < 1.0 else -1e4
        lam_i = math.atan2(p * math.sin(phi), 1.0 - 2.0 * p * sine * sine)
        column = free * lam_r
        if math.exp(column) * largest < tau:
            left_out += (2.0 if paired else 1.0) * math.exp(column) * all_weights
            continue
        turn = free * lam_i - 2.0 * math.pi * ((n_events * k_phi) % n_phi) / n_phi
        for i in range(len(lengths)):
            er, ei = _expm1(lengths[i] * lam_r, lengths[i] * lam_i)
            grown = math.exp(lengths[i] * ell)
            ur[i] = math.expm1(lengths[i] * ell) + grown * er
            ui[i] = grown * ei
        for i in range(len(single_length)):
            er, ei = _expm1(single_length[i] * lam_r, single_length[i] * lam_i)
            xr[i] = er / single_total[i]
            xi[i] = ei / single_total[i]

        start = round(slope * phi / (2.0 * half_psi)) - LANES // 2
        for batch in range((n_psi + LANES - 1) // LANES):
            used = min(LANES, n_psi - batch * LANES)
            for k in range(LANES):
                j = (start + batch * LANES + min(k, used - 1)) % n_psi
                log_modulus = column
                argument = turn
                for i in range(len(single_length)):
                    angle = _signed(single_size[i] * j, n_psi) * half_psi
                    a = math.sin(angle)
                    c = math.cos(angle)
                    if single_by_hits[i]:
                        cosine, sine = 1.0 - 2.0 * a * a, 2.0 * a * c
                        re = xr[i] * cosine - xi[i] * sine - 2.0 * single_share[i] * a * a
                        im = xr[i] * sine + xi[i] * cosine + 2.0 * single_share[i] * a * c
                    else:
                        re = xr[i] - 2.0 * single_share[i] * a * a
                        im = xi[i] - 2.0 * single_share[i] * a * c
                    growth = 2.0 * re + re * re + im * im
                    log_modulus += single_count[i] * (0.5 * math.log1p(growth) if growth > -1.0 else -1e4)
                    argument += single_count[i] * math.atan2(im, 1.0 + re)
                modulus = math.exp(log_modulus)
                pr[k] = modulus * math.cos(argument)
                pi[k] = modulus * math.sin(argument)
                angle = 2.0 * _signed(j, n_psi) * half_psi
                state[ZR + k] = z * math.cos(angle)
                state[ZI + k] = -z * math.sin(angle)
                alive[k] = tau / (weight[j] * modulus) if k < used else np.inf
                bound[k] = 1.0
            needed = alive.min() <= 1.0
            for q in range(len(count)):
                if not needed:
                    break
                if passed >= most:
                    return out_r, out_i, np.inf, np.inf
                until = _cluster_factor(q, clusters, run, ur, ui, alive, state, queue, reach, bound)
                passed += until - first[q]
                needed = until == first[q + 1]
                if needed:
                    needed = False
                    for k in range(LANES):
                        fr = state[WR + k] / mantissa[q]
                        fi = state[WI + k] / mantissa[q]
                        power = count[q]
                        while True:
                            if power & 1:
                                pr[k], pi[k] = pr[k] * fr - pi[k] * fi, pr[k] * fi + pi[k] * fr
                            power >>= 1
                            if power == 0:
                                break
                            fr, fi = fr * fr - fi * fi, 2.0 * fr * fi
                        if k < used:
                            j = (start + batch * LANES + k) % n_psi
                            alive[k] = tau / (weight[j] * math.hypot(pr[k], pi[k]))
                            needed = needed or alive[k] <= 1.0
                        bound[k] = 1.0
            for k in range(used):
                j = (start + batch * LANES + k) % n_psi
                rest = math.hypot(pr[k], pi[k]) * bound[k] * (weight[j] + (weight[-j] if paired else 0.0))
                if needed:
                    moduli += rest
                    out_r[j] += pr[k]
                    out_i[j] += pi[k]
                    if paired:
                        out_r[-j] += pr[k]
                        out_i[-j] -= pi[k]
                else:
                    left_out += rest
    return out_r / n_phi, out_i / n_phi, left_out / n_phi, moduli / n_phi


@compiled()
def _expm1(a, b):  # type: ignore[no-untyped-def]
    """exp(a + ib) - 1 as real and imaginary part, without losing digits near 0."""
    sine = math.sin(0.5 * b)
    return math.expm1(a) * math.cos(b) - 2.0 * sine * sine, math.exp(a) * math.sin(b)


@compiled()
def _signed(turns, n_turns):  # type: ignore[no-untyped-def]
    """The turn modulo n_turns nearest 0: an angle just below 2 pi has lost the digits that one just below 0 has."""
    rest = turns % n_turns
    return rest - n_turns if 2 * rest > n_turns else rest

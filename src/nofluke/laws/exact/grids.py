"""How many angles an inversion needs so that aliases of the tilted law, by Chernoff's bound, cannot change the answer.

The section "Tilted Fourier inversion" of docs/explanation/theory.md has the mathematics.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nofluke.laws.exact.generating import Point, evaluate

_PRECISION = 2e-13  # what each source of error may contribute, relative to the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Angles:
    """How many angles, how far their mean can be from the integral, and which form the tail's aliases take."""

    n_phi: int
    n_psi: int
    alias: float
    subtract: bool
    tau: float


def tail_grid(point: Point, n_events: int, hits: int, sign: int, log_scale: float) -> Angles:
    """Enough angles that aliases of the tilted law cannot change the answer."""
    structure = point.structure
    pole = -math.expm1(-abs(point.t))
    spread = math.sqrt(point.var_given_events)
    # the answer in units of exp(log_scale), roughly and rather too small
    answer = 0.2 / (_width(math.sqrt(point.var_events)) * max(pole * _width(spread), 1.0))
    log_goal = math.log(_PRECISION * answer)

    n_psi, alias, subtract = structure.n + 1, 0.0, True
    outward = _reach(point, n_events, hits, sign, log_goal, spread)
    inward = _reach(point, n_events, hits, -sign, log_goal, spread)
    if outward is not None and inward is not None:
        needed = max(outward.needed(log_goal), inward.needed(log_goal))
        # aliases from below c are a known multiple of their total if that is nearly 1, small on their own if not
        below_all = (point.t - sign * inward.step) * sign < 0.0
        if below_all:
            needed = max(needed, math.ceil((2.0 - log_scale - math.log(answer)) / abs(point.t)))
        if needed < n_psi:
            n_psi, subtract = needed, below_all
            alias = outward.bound(n_psi) + inward.bound(n_psi) / -math.expm1(-abs(point.t) * n_psi)
    n_phi, alias_phi = _phi_angles(point, n_events, log_goal + math.log(pole))
    return Angles(n_phi=n_phi, n_psi=n_psi, alias=alias + alias_phi / pole, subtract=subtract, tau=_PRECISION * answer)


def band_grid(point: Point, n_events: int, low: int, high: int, precision: float) -> Angles:
    """Enough angles that every c from low to high is told from its aliases, to so much of the largest probability."""
    spread = math.sqrt(point.var_given_events)
    answer = 1.0 / (_width(math.sqrt(point.var_events)) * _width(spread))
    log_goal = math.log(precision * answer)
    n_psi, alias = point.structure.n + 1, 0.0
    sides = [_reach(point, n_events, c, way, log_goal, spread) for c, way in ((low, 1), (high, -1))]
    if sides[0] is not None and sides[1] is not None:
        needed = max(side.needed(log_goal) for side in sides if side is not None)
        if needed < n_psi:
            n_psi, alias = needed, sides[0].bound(needed) + sides[1].bound(needed)
    n_phi, alias_phi = _phi_angles(point, n_events, log_goal)
    return Angles(n_phi=n_phi, n_psi=n_psi, alias=alias + alias_phi, subtract=False, tau=precision * answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """Chernoff's bound on the tilted law: mass M, 2M, ... away is at most exp(height - step M) and powers of that."""

    height: float
    step: float

    def needed(self, log_goal: float) -> int:
        """Smallest M whose bound is below exp(log_goal); more than any grid has where the bound cannot be told."""
        if not math.isfinite(self.height):
            return 2**62
        return max(math.ceil((self.height - log_goal) / self.step), math.ceil(1.0 / self.step), 1)

    def bound(self, n_angles: int) -> float:
        """Bound on everything at distance n_angles or more, on one side, whatever multiple of it."""
        return math.exp(self.height - self.step * n_angles) / -math.expm1(-self.step * n_angles)


def _reach(point: Point, n_events: int, hits: int, direction: int, log_goal: float, spread: float) -> _Reach | None:
    """How fast the tilted law of C, with N = m, falls off in one direction; None if that cannot be told."""
    room = point.structure.most_tilt - direction * point.t
    step = min(0.95 * math.sqrt(-2.0 * log_goal) / max(spread, 0.1), 8.0, room)
    if step <= 0.0:
        return None
    moved = direction * step
    s = point.s - point.slope * moved
    base = point.objective(n_events, hits)
    best = math.inf
    for _ in range(3):
        other = evaluate(point.structure, s, point.t + moved)
        height = other.objective(n_events, hits) - base
        best = min(best, height)
        miss = (other.events - n_events) / math.sqrt(max(other.var_events, 1e-12))
        if abs(miss) < 1.0:  # another step of Newton's in s would gain less than a half
            break
        s -= max(-2.0, min(2.0, (other.events - n_events) / max(other.var_events, 1e-12)))
    return _Reach(height=best, step=step) if best < math.inf else None


def _phi_angles(point: Point, n_events: int, log_goal: float) -> tuple[int, float]:
    """Number of angles phi, and a bound on the mass of the tilted law of N they cannot tell from N = m."""
    spread = math.sqrt(point.var_events)
    step = min(0.95 * math.sqrt(-2.0 * log_goal) / max(spread, 0.1), 8.0)
    base = point.objective(n_events, 0)
    sides = []
    for direction in (-1, 1):
        other = evaluate(point.structure, point.s + direction * step, point.t)
        sides.append(_Reach(height=other.objective(n_events, 0) - base, step=step))
    needed = max(side.needed(log_goal) for side in sides)
    if needed > point.structure.n_steps:
        return point.structure.n_steps + 1, 0.0
    return needed, sum(side.bound(needed) for side in sides)


def _width(spread: float) -> float:
    """One over the largest probability of a lattice law with this standard deviation, about."""
    return math.sqrt(1.0 + 2.0 * math.pi * spread * spread)

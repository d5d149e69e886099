# SPDX-License-Identifier: Apache-2.0
"""combinex's random numbers: a stream is made from a seed and three numbers, and its k-th number is
a function of k (src/core/rng.h)."""
import math

import numpy as np

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
OFFSETS = (STEP, STEP, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7)


def mix(z):
    """splitmix64's finaliser, of a Python integer or an array of uint64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Stream:
    def __init__(self, seed, a, b, c):
        self.state = mix((seed + OFFSETS[0]) & MASK)
        for number, offset in zip((a, b, c), OFFSETS[1:]):
            self.state = mix(self.state ^ ((number + offset) & MASK))

    def next(self):
        self.state = (self.state + STEP) & MASK
        return mix(self.state)

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53

    def below(self, bound):
        skip = (1 << 64) % bound
        while (draw := self.next()) < skip:
            pass
        return draw % bound

    def normal(self):
        """Marsaglia's polar method; the second value is dropped."""
        while True:
            u, v = 2 * self.uniform() - 1, 2 * self.uniform() - 1
            s = u * u + v * v
            if 0 < s < 1:
                return u * math.sqrt(-2 * math.log(s) / s)

    def uniforms(self, count):
        """The next ones, all at once."""
        with np.errstate(over="ignore"):
            states = np.uint64(self.state) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(STEP)
            z = (states ^ (states >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        self.state = int(states[-1]) if count else self.state
        return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53

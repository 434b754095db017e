"""The ratio of two samples and its interval: what two-sided Mann-Whitney tests at this level do not refuse.

Nothing is asked of how rates are distributed. The ratio is the median of the ratios of all pairs (Hodges and Lehmann,
on logarithms); the interval's ends are two of these ratios, counted from both ends.
"""

import math
from statistics import median

CONFIDENCE = 0.95


def ways(ones, others):
    """How many of the orders of the two samples have each value of U, from 0 to ones * others."""
    # Mann and Whitney's recurrence: the greatest of all is of the one sample, or of the other.
    table = {}
    for i in range(ones + 1):
        for j in range(others + 1):
            counts = [0] * (i * j + 1)
            if i == 0 or j == 0:
                counts[0] = 1
            else:
                for u, count in enumerate(table[i - 1, j]):
                    counts[u + j] += count
                for u, count in enumerate(table[i, j - 1]):
                    counts[u] += count
            table[i, j] = counts
    return table[ones, others]


def place(ones, others):
    """Which of the sorted ratios, from either end, is an end of the interval. None if there are too few samples."""
    total = math.comb(ones + others, ones)
    below = 0
    for u, count in enumerate(ways(ones, others)):
        below += count
        if 2 * below > (1 - CONFIDENCE) * total:
            return u if u > 0 else None
    return None


def compare(base, other):
    """other / base: the ratio and its interval. None if a side has fewer samples than an interval needs."""
    end = place(len(base), len(other))
    if end is None or min(base) <= 0 or min(other) <= 0:
        return None
    ratios = sorted(mine / its for mine in other for its in base)
    return {
        "ratio": math.exp(median(math.log(ratio) for ratio in ratios)),
        "interval": [ratios[end - 1], ratios[-end]],
        "confidence": CONFIDENCE,
    }

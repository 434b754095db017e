#!/usr/bin/env python3
"""Writes comparison-vectors.json: samples, and what an independent implementation says of them.

p-values are scipy.stats.mannwhitneyu's: `exact` without ties, `permutation` (all of them) for small
tied samples, `asymptotic` (with continuity) for large ones. Intervals of the ratio are found by
inverting scipy's exact test: the ratios of single samples at which its p-value passes alpha.

Made with scipy 1.17.1:

    pip install scipy==1.17.1
    python3 make-comparison-vectors.py
"""
import itertools
import json
import math
import pathlib
import random
import statistics

from scipy.stats import PermutationMethod, mannwhitneyu

random.seed(7)
ALPHA = 0.05


def p(one, other, method):
    if method == "permutation":
        method = PermutationMethod(n_resamples=10**6)
    return mannwhitneyu(one, other, method=method).pvalue


def ratio(one, other):
    """Hodges and Lehmann's estimate on logarithms, and the interval of all ratios that the exact
    test does not tell from the truth."""
    ratios = sorted(b / a for a, b in itertools.product(one, other))
    # Just beside each ratio, where dividing it out makes no tie.
    kept = [
        by
        for by in ratios
        for beside in (by * (1 - 1e-9), by * (1 + 1e-9))
        if p(one, [b / beside for b in other], "exact") >= ALPHA
    ]
    estimate = math.exp(statistics.median(math.log(by) for by in ratios))
    # Samples so few that not even the clearest difference counts have no interval.
    if p(range(len(one)), range(1000, 1000 + len(other)), "exact") >= ALPHA:
        return estimate, None
    return estimate, [min(kept), max(kept)]


def draw(size, centre, digits):
    return [round(centre * math.exp(random.gauss(0, 0.2)), digits) for _ in range(size)]


vectors = []


def add(one, other, method):
    vector = {"one": one, "other": other, "method": method, "p": float(p(one, other, method))}
    if method == "exact":
        vector["ratio"], vector["interval"] = ratio(one, other)
    vectors.append(vector)


for sizes in [(1, 1), (1, 5), (2, 2), (3, 3), (4, 4), (3, 5), (5, 3), (7, 4), (10, 10), (20, 9), (25, 25)]:
    for centre in (10, 11, 15):
        add(draw(sizes[0], 10, 6), draw(sizes[1], centre, 6), "exact")
add([1, 2, 3], [4, 5, 6], "exact")
add([4, 5, 6], [1, 2, 3], "exact")
for sizes in [(2, 2), (3, 3), (4, 4), (3, 6), (6, 3), (9, 9), (10, 8)]:
    for centre in (10, 14):
        # Whole numbers: many are equal.
        add(draw(sizes[0], 10, 0), draw(sizes[1], centre, 0), "permutation")
add([1, 1, 1], [2, 2, 2], "permutation")
add([5, 5, 5], [5, 5, 5], "permutation")
add([0, 0, 0, 0, 1], [0, 0, 2, 2, 2], "permutation")
for sizes in [(26, 25), (40, 40), (10, 60), (100, 90)]:
    for digits in (6, 0):
        for centre in (10, 11):
            add(draw(sizes[0], 10, digits), draw(sizes[1], centre, digits), "asymptotic")
add([3.0] * 30, [3.0] * 30, "asymptotic")

lines = ",\n".join(json.dumps(vector) for vector in vectors)
path = pathlib.Path(__file__).with_name("comparison-vectors.json")
path.write_text(f'{{"alpha": {ALPHA}, "vectors": [\n{lines}\n]}}\n')
print(len(vectors), "vectors")

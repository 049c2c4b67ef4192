"""Statistics of paired skill evaluations: pure functions, numbers in, frozen values out.

Every figure answers one of two questions, and says which:

these cases
    Did the skill change outcomes on exactly these cases? The unit is the run.
new cases
    Would it on further cases of this kind? The unit is the case (or the family of cases built on one source).

Modules::

    values        what all others take and give: RunCounts, PairedCounts, Interval, Estimate
    proportions   Wilson, Clopper-Pearson, Newcombe; the pass rate of an arm
    bounded       BBB and Gaffke intervals for the mean of bounded values
    permutation   exact sign-flip and within-case tests
    bootstrap     seeded case bootstrap (secondary column, never in a verdict)
    missing       lost runs; worst and best case of undecided runs
    paired        the paired difference with all of the above
    harm          being no worse; the chance of an irreversible loss
    verdict       the verdict in words
    steps         the next step, with its size and price
    gate          met, not met, can't be decided
    passk         pass^k
    agreement     judge against human: kappa, AC1, alpha, sensitivity, specificity, Rogan-Gladen
    multiplicity  Holm
    sequential    planned early looks; e-value
    trigger       was the skill loaded when it should be
    skewed        paired tokens, seconds, money
    complier      as assigned, as loaded, and the effect of loading
    pooling       several agents and models
    planning      how many cases and repeats, at what price
    sizes         the same for many sizes at once
    simulate      settings, coverage study, power; simulate_looks: what planned looks save and cost
    batch         the tests for many simulated data sets at once

Nothing is imported here: the modules load numpy (and, inside functions, scipy and statsmodels), so import them where they are used.
"""

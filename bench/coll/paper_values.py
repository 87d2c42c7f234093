"""What paper 001 prints of its experiments (section 5), in seconds but for Table 1."""

# Table 1: milliseconds between sites S0 to S5.
TABLE_1 = [[0, 485.4, 698.9, 14.9, 332.8, 61.4], [485.4, 0, 364.1, 583.8, 13.5, 490.5],
           [698.9, 364.1, 0, 701.2, 371.7, 722.9], [14.9, 583.8, 701.2, 0, 331.0, 35.1],
           [332.8, 13.5, 371.7, 331.0, 0, 355.9], [61.4, 490.5, 722.9, 35.1, 355.9, 0]]

# Table 2: the whole application of so many broadcasts: a binomial tree, two levels.
TABLE_2 = {1: (4.93, 3.80), 4: (6.95, 5.40), 16: (15.88, 13.08)}

# Fig. 4: the bars, by the number of broadcasts and whose tree; of the paper the last is the second less the first.
BARS_4 = ["making", "application", "broadcasts"]
FIGURE_4 = {4: {"two-level": (2.38, 5.77, 3.40), "mst": (25.24, 28.20, 2.97)},
            8: {"two-level": (1.80, 9.11, 7.30), "mst": (24.30, 29.57, 5.27)},
            16: {"two-level": (2.81, 13.00, 10.19), "mst": (23.39, 32.03, 8.64)}}

# Figs. 5 to 7. In the second bar the paper's links are told their new values.
BARS = ["making", "new links", "broadcasts", "adapting", "all"]
FIGURE_5 = {"two-level": (3.01, 240.16, 170.79, 0, 397.20), "mst static": (41.99, 240.13, 108.86, 0, 392.16),
            "mst adap": (41.93, 240.12, 5.86, 111.89, 393.83),
            "mst adap II": (42.03, 240.09, 5.86, 74.31, 357.94)}
FIGURE_6 = {**FIGURE_5, "mst adap": (49.58, 240.09, 5.86, 95.03, 385.09),
            "mst adap II": (42.14, 240.09, 5.86, 45.07, 328.99)}
FIGURE_7 = {"two-level": (2.25, 480.17, 526.35, 0, 741.69), "mst static": (48.46, 480.23, 275.15, 0, 753.27),
            "mst adap": (49.50, 480.21, 9.52, 226.21, 756.48),
            "mst adap II": (49.20, 480.25, 9.52, 162.50, 694.86)}

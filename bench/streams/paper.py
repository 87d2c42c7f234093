"""What section 4 of paper 004 says was measured there: 16 nodes of 20 cores, 1 Gbit/s between them."""

NODES = 16

SIZES = "8 to 32 messages a batch reach what netcat does; above 512 B batches hardly matter"
PROTOCOLS = "no appreciable difference between TCP and MPI over TCP"
SERIALIZATION = "cereal and a type that lies in one piece are alike below 8 KB, the latter is faster above"

# 16 right workers: the most is reached with 16 left ones. Other points are in the picture alone.
ALL_TO_ALL_LEFT, ALL_TO_ALL_MB_S, ALL_TO_ALL_PERCENT = 16, 1780, 93

# Fig. 10. Grain in ms -> tasks of TASKS done in the master's group, seconds.
TASKS = 100_000
GRAINS = {0.1: (89_011, 0.464), 0.5: (36_048, 0.915), 1: (20_339, 1.02), 2: (10_680, 1.075),
          5: (6_239, 1.583)}


def local_percent(grain):
    return 100 * GRAINS[grain][0] / TASKS


def percent_of_linear(grain):
    """How much of 320 workers' speed was reached; 100 is the speedup of 16."""
    return 100 * TASKS * grain / 1e3 / (NODES * 20) / GRAINS[grain][1]


# Fig. 11: thousand lines a second, of one unbounded source and by the number of sources.
WORDS_MOST = 120
WORDS = {1: 7.5, 13: 97, 16: 101}

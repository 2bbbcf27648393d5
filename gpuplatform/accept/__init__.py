"""Whether a pool's nodes reach the collective bandwidth of their machine: a job, its log, a verdict."""

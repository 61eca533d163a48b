"""Faults of the proof that soft bodies do not cross, which tests with exact crossings must notice."""

PAIRS = "src/isotact/dynamics/soft/barrier_pairs.cpp"
TESTS = ("isotact_dynamics_tests", "SoftBarrier.NothingCrosses*:SoftBarrier.AMovingBall*")

MUTATIONS = [
    ("barriers: each move is certified", PAIRS,
     "return m.status == MeetingStatus::kApart ? 1 : std::clamp(m.time, 0.0, 1.0);",
     "return m.steps >= 0 ? 1 : 0;", TESTS),
    ("barriers: bounds forget what a move adds", PAIRS,
     "return bound_now(s, p) - sum_of(p.self ? s.trial_beside : s.trial_travel, p);",
     "return bound_now(s, p);", TESTS),
]

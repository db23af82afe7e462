"""Hypothesis as the mutants need it: the same examples each time, and no shrinking."""

from hypothesis import HealthCheck, Phase, settings


def load_profile() -> None:
    """Makes it the profile of all tests that are read after."""
    settings.register_profile(
        "mutants",
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("mutants")

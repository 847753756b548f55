"""Checks for the exercises: one module a chapter, `check_<thing>(attempt)` for each exercise in it."""

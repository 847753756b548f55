"""Build a slide deck for each chapter."""

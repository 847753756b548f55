"""A few questions for each chapter, in modules named as the chapters; the package computes the numbers."""

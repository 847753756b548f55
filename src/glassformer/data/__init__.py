"""Sentences the project makes itself, and the way from words to arrays of ids."""

"""Sentences, our own and those of real corpora, and the way from words to arrays of ids."""

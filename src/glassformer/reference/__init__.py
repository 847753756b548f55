"""The definitions: pure NumPy functions, one idea a file, no class and no torch."""

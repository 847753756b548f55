"""One folder per live figure: its Python, scripts and style sheet."""

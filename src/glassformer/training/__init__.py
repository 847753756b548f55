"""How a model comes to its weights: what it is asked, and how it is corrected."""

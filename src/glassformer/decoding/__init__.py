"""How a trained model writes: from logits to a sentence."""

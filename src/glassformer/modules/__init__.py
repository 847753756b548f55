"""The definitions made trainable: PyTorch twins of `reference`, and the models built from them."""

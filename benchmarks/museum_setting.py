"""Sizes, training settings and measures of the translators in `museum_probes.py`."""

CORPUS = {"train_size": 2000, "test_size": 200}
SIZES = {"d_model": 48, "num_heads": 4, "d_ff": 96, "num_encoder_layers": 1, "num_decoder_layers": 1}
LESSON = {"steps": 220, "batch_size": 32, "learning_rate": 0.01}
RUN = {"steps": 220, "max_tokens": 480, "learning_rate": 0.01, "warmup_steps": 24, "schedule": "linear"}
KEPT = {"checkpoint_every": 10, "keep_checkpoints": 4, "validate_every": 110, "log_every": 1}

# Description and unit of each measure; "%" is a share, stored from 0 to 1.
MEASURES = {
    "exact_match": ("exact match on unseen sentences", "%"),
    "same_twice": ("unseen sentences that get the same translation twice", "%"),
    "greedy_exact_match": ("exact match with greedy decoding", "%"),
    "unseen_loss": ("loss per token on unseen sentences", ""),
    "reported_loss": ("training loss that is reported at the end", ""),
    "reported_validation_loss": ("validation loss that is reported", ""),
    "reported_bleu": ("BLEU that the last validation reports", ""),
    "bleu": ("BLEU of the final translations", ""),
    "parameters": ("trainable parameters", ""),
    "log_probability": ("log-probability of the translation under the model", ""),
    "claimed_log_probability": ("log-probability that the search reports", ""),
    "tokens": ("tokens per translation, including the end token", ""),
    "largest_difference": ("largest difference of an attention weight between float16 and float32", ""),
    "jump": ("change of the loss in the step after the interruption", ""),
}

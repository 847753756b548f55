"""Sizes, training settings and measures of the translators in `museum_probes.py`."""

CORPUS = {"train_size": 2000, "test_size": 200}
SIZES = {"d_model": 48, "num_heads": 4, "d_ff": 96, "num_encoder_layers": 1, "num_decoder_layers": 1}
LESSON = {"steps": 220, "batch_size": 32, "learning_rate": 0.01}
RUN = {"steps": 220, "max_tokens": 480, "learning_rate": 0.01, "warmup_steps": 24, "schedule": "linear"}
KEPT = {"checkpoint_every": 10, "keep_checkpoints": 4, "validate_every": 110, "log_every": 1}

# Description and unit of each measure; "%" is a share, stored from 0 to 1.
MEASURES = {
    "exact_match": ("unseen sentences translated word for word", "%"),
    "same_twice": ("unseen sentences translated the same when asked for twice", "%"),
    "greedy_exact_match": ("the same without beams", "%"),
    "unseen_loss": ("loss a token on unseen sentences, counted apart", ""),
    "reported_loss": ("loss that the training reports at its end", ""),
    "reported_validation_loss": ("loss that the validation reports", ""),
    "reported_bleu": ("BLEU that the last validation reports", ""),
    "bleu": ("BLEU of what it writes at the end", ""),
    "parameters": ("numbers that are trained", ""),
    "log_probability": ("log-probability that the model gives to what is found", ""),
    "claimed_log_probability": ("log-probability that the search claims for it", ""),
    "tokens": ("tokens in a translation, its end among them", ""),
    "largest_difference": ("largest difference of an attention weight to float32", ""),
    "jump": ("change of the loss in the step after the interruption", ""),
}

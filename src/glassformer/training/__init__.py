"""Losses, schedules, checkpoints and the trainer."""

from glassformer.training.checkpoints import (
    CHECKPOINTS_FOLDER,
    Progress,
    average_weights,
    list_checkpoints,
    load_average,
    load_checkpoint,
    save_checkpoint,
)
from glassformer.training.evaluation import Evaluation, evaluate, score_translations, summarise, write_results
from glassformer.training.folders import average_checkpoints, find_translator
from glassformer.training.log import RunLog, read_log
from glassformer.training.loop import draw_batches, train
from glassformer.training.loss import chunked_cross_entropy, cross_entropy, shift_targets, teacher_forced_loss
from glassformer.training.parallel import Workers, join_workers
from glassformer.training.run import Recipe, read_recipe, run_recipe, small_config
from glassformer.training.schedule import learning_rate_at, noam_learning_rate
from glassformer.training.settings import TrainingSettings
from glassformer.training.trainer import DivergenceError, Trainer

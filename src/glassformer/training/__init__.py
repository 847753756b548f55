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
from glassformer.training.evaluation import (
    Evaluation,
    evaluate,
    read_results,
    rescore,
    score_translations,
    summarize,
    write_results,
)
from glassformer.training.folders import average_checkpoints, find_translator
from glassformer.training.log import RunLog, read_log
from glassformer.training.loop import draw_batches, train
from glassformer.training.loss import (
    chunked_loss,
    cross_entropy,
    shift_targets,
    teacher_forced_loss,
)
from glassformer.training.parallel import Workers, join_workers
from glassformer.training.run import (
    Recipe,
    read_recipe,
    run_recipe,
    small_config,
)
from glassformer.training.schedule import learning_rate_at, paper_learning_rate
from glassformer.training.settings import TrainingSettings
from glassformer.training.trainer import DivergenceError, Trainer

__all__ = [
    "CHECKPOINTS_FOLDER",
    "DivergenceError",
    "Evaluation",
    "Progress",
    "Recipe",
    "RunLog",
    "Trainer",
    "TrainingSettings",
    "Workers",
    "average_checkpoints",
    "average_weights",
    "chunked_loss",
    "cross_entropy",
    "draw_batches",
    "evaluate",
    "find_translator",
    "join_workers",
    "learning_rate_at",
    "list_checkpoints",
    "load_average",
    "load_checkpoint",
    "paper_learning_rate",
    "read_log",
    "read_recipe",
    "read_results",
    "rescore",
    "run_recipe",
    "save_checkpoint",
    "score_translations",
    "shift_targets",
    "small_config",
    "summarize",
    "teacher_forced_loss",
    "train",
    "write_results",
]

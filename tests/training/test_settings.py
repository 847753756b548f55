import dataclasses
import inspect

import pytest

from glassformer.training.settings import TrainingSettings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"steps": 0}, "steps"),
        ({"max_tokens": -3}, "max_tokens"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"label_smoothing": 1.0}, "label_smoothing"),
        ({"beta2": 1.0}, "beta2"),
        ({"warmup_steps": 11, "steps": 10}, r"at most steps \(10\), got 11"),
        ({"schedule": "stairs"}, "schedule must be one of .*'stairs'"),
        ({"optimizer": "sgd"}, "optimizer"),
        ({"precision": "float16"}, "precision"),
        ({"weight_decay": -0.1}, "weight_decay"),
        ({"keep_checkpoints": 0}, "keep_checkpoints"),
    ],
)
def test_an_invalid_setting_is_named(wrong, message, as_a_user):
    with pytest.raises(ValueError, match=message):
        TrainingSettings(**wrong)


def test_every_setting_has_a_description():
    explained = inspect.getdoc(TrainingSettings)  # Python 3.13 removes the indentation of __doc__
    for field in dataclasses.fields(TrainingSettings):
        assert f"\n    {field.name}: " in explained

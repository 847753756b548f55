"""The front page's figure: a translation with its cross-attention."""

import json
from pathlib import Path

from glassformer.widgets.live import LiveFigure, Table

RECORDED = json.loads(Path(__file__).with_name("recording.json").read_text(encoding="utf-8"))


def live_hero() -> LiveFigure:
    """Show a recorded translation with its mean cross-attention, and translate other sentences.

    The pretrained translator was recorded; ``tests/widgets/test_hero.py`` records it again and compares.
    """
    translation = {name: RECORDED[name] for name in ("source", "target", "weights", "heads")}
    return LiveFigure(
        "hero",
        label="A sentence, its translation and their cross-attention",
        data={
            "sentence": RECORDED["english"],
            "picked": RECORDED["target"].index("▁elle"),
            "recorded": translation,
            "model": "en-fr",
            "megabytes": 7.5,
            "page": "translator.html",
        },
        heights=(25.6, 43.4),
        table=_table(),
    )


def _table() -> Table:
    most = [max(zip(row, RECORDED["source"], strict=True)) for row in RECORDED["weights"]]
    rows = [
        (_bare(token), _bare(looked_at), f"{weight:.2f}")
        for token, (weight, looked_at) in zip(RECORDED["target"], most, strict=True)
    ]
    return Table(
        f"“{RECORDED['english']}” becomes “{RECORDED['french']}”. The largest cross-attention weight of each "
        f"French token, averaged over all {RECORDED['heads']} heads",
        ("French", "English", "weight"),
        rows,
    )


def _bare(token: str) -> str:
    return token.removeprefix("▁")

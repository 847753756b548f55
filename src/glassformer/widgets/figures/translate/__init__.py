"""The pretrained translator in the page, with its attention maps."""

from glassformer.widgets.live import LiveFigure, Table

MODEL = "en-fr"  # served beside the scripts by `_ext/live_figures.py`
EXAMPLES = {  # and their translations by the pretrained model
    "I would like a cup of tea, please.": "Je voudrais une tasse de thé, s'il vous plaît.",
    "The animal didn't cross the street because it was too tired.": (
        "L'animal ne traversa pas la rue parce qu'elle était trop fatigué."
    ),
    "Where is the train station?": "Où est la gare ?",
    "She has two brothers and a dog.": "Elle a deux frères et un chien.",
    "I don't know what to do.": "Je ne sais pas quoi faire.",
}


def live_translate() -> LiveFigure:
    """Translate English into French, with an attention map and a switch for every head.

    The model is fetched on request, or read from files that the reader opens.
    """
    return LiveFigure(
        "translate",
        label="A translator in this page",
        data={"examples": list(EXAMPLES), "model": MODEL, "megabytes": 7.5},
        heights=(27.6, 41.8),
        table=Table(
            "Translations of five sentences by the pretrained model (beam size 4)",
            ("English", "French"),
            list(EXAMPLES.items()),
        ),
    )

"""Run the pretrained translator in the page, and look into its heads while it writes."""

from glassformer.widgets.live import LiveFigure, Table

MODEL = "en-fr"  # beside the scripts: `_ext/live_figures.py` puts its files there
EXAMPLES = {  # with what the pretrained model makes of them
    "I would like a cup of tea, please.": "Je voudrais une tasse de thé, s'il vous plaît.",
    "The animal didn't cross the street because it was too tired.": (
        "L'animal ne traversa pas la rue parce qu'elle était trop fatigué."
    ),
    "Where is the train station?": "Où est la gare ?",
    "She has two brothers and a dog.": "Elle a deux frères et un chien.",
    "I don't know what to do.": "Je ne sais pas quoi faire.",
}


def live_translate() -> LiveFigure:
    """Translate English into French, with a map and a switch for every head.

    The model is fetched when the reader asks for it, or read from files that the reader opens.
    """
    return LiveFigure(
        "translate",
        label="A translator in this page",
        data={"examples": list(EXAMPLES), "model": MODEL, "megabytes": 7.5},
        heights=(27.6, 41.8),
        table=Table(
            "What the pretrained translator makes of five sentences (beam of 4)",
            ("English", "French"),
            list(EXAMPLES.items()),
        ),
    )

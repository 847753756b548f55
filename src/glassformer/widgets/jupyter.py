"""Live figures as Jupyter widgets, for layouts and for frontends that block scripts in outputs.

This needs anywidget, which the package's extra ``widget`` installs.
"""

import traitlets

from glassformer.widgets.live import LiveFigure, read_files

try:
    import anywidget
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "glassformer.widgets.jupyter needs anywidget: pip install anywidget", name="anywidget"
    ) from error

RENDER = "export default { render({ model, el }) { el.innerHTML = model.get('html'); } };"


class FigureWidget(anywidget.AnyWidget):
    """A live figure as a Jupyter widget, drawn by the same scripts as on the book's pages.

    Args:
        figure: result of a function such as ``glassformer.widgets.live_softmax``.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)
    html = traitlets.Unicode(read_only=True).tag(sync=True)

    def __init__(self, figure: LiveFigure) -> None:
        scripts, sheets = read_files(figure.name, ".js"), read_files(figure.name, ".css")
        super().__init__(_esm=f"{scripts}\n{RENDER}", _css=sheets)
        self.set_trait("html", figure.to_html())

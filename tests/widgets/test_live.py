import json
import re

import pytest

from glassformer.widgets.live import LiveFigure, Table

TABLE = Table("what it shows", ("word", "weight"), [("<b>", "0.7"), ("street", "0.3")])


def a_figure(**changes):
    return LiveFigure(
        "softmax", **({"label": "A & B", "data": {"a": 1}, "table": TABLE, "heights": (30, 40)} | changes)
    )


def data_of(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])


def test_the_table_escapes_markup():
    html = TABLE.to_html()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert [html.count("<tr>"), html.count('scope="row"')] == [3, 2]
    assert "<caption>what it shows</caption>" in html


def test_rows_must_be_as_long_as_the_head():
    with pytest.raises(ValueError, match=r"head and rows must have the same length, got \[1, 2\]"):
        Table("", ("word", "weight"), [("street",)])


def test_any_data_survive_embedding_in_html(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    data = {"words": ["</script><script>alert(1)</script>", 'é "quoted"', "\u2028"], "numbers": [0.1, -1e-9]}
    html = a_figure(data=data)._repr_html_()
    assert data_of(html) == data
    assert html.count("</script>") == 1


def test_the_plain_text_form_names_the_figure():
    assert repr(a_figure()) == "LiveFigure('softmax')"


def test_the_element_has_an_accessible_name_and_reserved_heights(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    html = a_figure()._repr_html_()
    assert html.startswith('<glass-figure name="softmax" role="group" aria-label="A &amp; B" ')
    assert 'style="--wide: 30rem; --narrow: 40rem"' in html
    assert TABLE.to_html() in html


def test_outputs_include_scripts_unless_the_page_loads_them(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    bare = a_figure()._repr_html_()
    assert "customElements" not in bare
    assert "<style>" not in bare
    monkeypatch.delenv("GLASSFORMER_SCRIPTS")
    whole = a_figure()._repr_html_()
    assert whole.startswith(bare)
    assert all(part in whole for part in ("<style>", "customElements.define", "computeSoftmax"))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_data_must_be_finite(number):
    with pytest.raises(ValueError, match="JSON"):
        a_figure(data={"a": number})


def test_an_unknown_figure_is_an_error():
    with pytest.raises(ValueError, match=r"name must be one of .*softmax.*, got 'nothing'"):
        LiveFigure("nothing", label="", data={}, table=TABLE, heights=(1, 1))

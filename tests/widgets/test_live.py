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


def test_words_stay_words_in_the_table():
    html = TABLE.to_html()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert [html.count("<tr>"), html.count('scope="row"')] == [3, 2]
    assert "<caption>what it shows</caption>" in html


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"head and rows must be equally long, got lengths \[1, 2\]"):
        Table("", ("word", "weight"), [("street",)])


def test_the_data_arrive_whole_whatever_they_hold(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    data = {"words": ["</script><script>alert(1)</script>", 'é "quoted"', "\u2028"], "numbers": [0.1, -1e-9]}
    html = a_figure(data=data)._repr_html_()
    assert data_of(html) == data
    assert html.count("</script>") == 1


def test_a_figure_has_a_name_where_html_is_not_shown():
    assert repr(a_figure()) == "LiveFigure('softmax')"


def test_the_element_says_what_it_is_and_how_large(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    html = a_figure()._repr_html_()
    assert html.startswith('<glass-figure name="softmax" role="group" aria-label="A &amp; B" ')
    assert 'style="--wide: 30rem; --narrow: 40rem"' in html
    assert TABLE.to_html() in html


def test_scripts_come_along_unless_the_page_brings_them(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    bare = a_figure()._repr_html_()
    assert "customElements" not in bare
    assert "<style>" not in bare
    monkeypatch.delenv("GLASSFORMER_SCRIPTS")
    whole = a_figure()._repr_html_()
    assert whole.startswith(bare)
    assert all(part in whole for part in ("<style>", "customElements.define", "computeSoftmax"))


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_know_are_refused(number):
    with pytest.raises(ValueError, match="JSON"):
        a_figure(data={"a": number})


def test_a_name_without_a_script_is_refused():
    with pytest.raises(ValueError, match=r"name must be a figure's, one of .*softmax.*, got 'nothing'"):
        LiveFigure("nothing", label="", data={}, table=TABLE, heights=(1, 1))

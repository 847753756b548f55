import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.claims import Claim, ClaimError, claim, folklore, format_line, parse_line

ids = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True)
sentences = st.text(st.characters(codec="utf-8", exclude_characters="│"), min_size=1).filter(
    lambda text: text.strip().splitlines() == [text]
)
claims = st.builds(
    Claim,
    kind=st.sampled_from(["claim", "folklore"]),
    id=ids,
    statement=sentences,
    verdict=st.sampled_from(["holds", "does not hold"]),
    measured=sentences,
    stored=st.none() | sentences,
    source=st.none() | sentences,
)


def test_a_claim_that_holds_prints_one_line(capsys):
    claim("rows-sum-to-one", "Each row sums to one.", holds=True, measured="1.000")
    assert capsys.readouterr().out == (
        "✔ claim rows-sum-to-one holds: Each row sums to one. │ measured: 1.000\n"
    )


def test_the_source_of_a_claim_is_printed(capsys):
    claim("variance", "Var(q·k) = d_k.", holds=True, measured="63.9", source="Vaswani et al., 2017")
    assert capsys.readouterr().out.endswith("│ measured: 63.9 │ source: Vaswani et al., 2017\n")


def test_the_program_that_stored_a_measurement_is_printed_before_the_source(capsys):
    claim("speed", "It is fast.", holds=True, measured="2 ms", stored="benchmarks/speed.py", source="us")
    assert capsys.readouterr().out.endswith("│ measured: 2 ms │ stored: benchmarks/speed.py │ source: us\n")


def test_a_claim_that_does_not_hold_raises_its_statement_and_measurement_and_prints_nothing(capsys):
    with pytest.raises(ClaimError, match=r"claim too-good: 'It is free\.' measured: 3 ms"):
        claim("too-good", "It is free.", holds=False, measured="3 ms")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("verdict", ["holds", "does not hold"])
def test_folklore_raises_exactly_when_verdict_and_measurement_disagree(capsys, verdict, holds):
    def tell():
        folklore("maps-explain", "Maps explain.", verdict=verdict, holds=holds, measured="42 %")

    if holds == (verdict == "holds"):
        tell()
        mark = "✔" if holds else "✘"
        assert capsys.readouterr().out == (
            f"{mark} folklore maps-explain {verdict}: Maps explain. │ measured: 42 %\n"
        )
    else:
        with pytest.raises(ClaimError, match="maps-explain"):
            tell()
        assert capsys.readouterr().out == ""


@given(claims)
def test_parsing_inverts_formatting(entry):
    assert parse_line(format_line(entry)) == entry


@pytest.mark.parametrize("line", ["", "loss 0.31", "✔ unscaled attention: right.", "✔ claim a holds: b"])
def test_other_lines_are_not_claims(line):
    assert parse_line(line) is None


@pytest.mark.parametrize("id", ["", "Two Words", "under_score", "-leading", "trailing-", "line\nbreak"])
def test_an_invalid_id_is_rejected(id):
    with pytest.raises(ValueError, match="id must be lower-case words joined by hyphens"):
        claim(id, "It holds.", holds=True, measured="1")


@pytest.mark.parametrize("text", ["", "two\nlines", "two\x85lines", "a │ measured: b", " spaces", "spaces "])
@pytest.mark.parametrize("name", ["statement", "measured", "stored", "source"])
def test_text_that_could_not_be_parsed_again_is_rejected(name, text):
    texts = {"statement": "It holds.", "measured": "1", "source": "us", name: text}
    with pytest.raises(ValueError, match=rf"{name} must be one line without │"):
        claim("fine", texts.pop("statement"), holds=True, **texts)


@pytest.mark.usefixtures("as_a_user")
def test_an_unknown_verdict_is_rejected():
    with pytest.raises(ValueError, match="verdict must be 'holds' or 'does not hold', got 'maybe'"):
        folklore("fine", "It holds.", verdict="maybe", holds=True, measured="1")

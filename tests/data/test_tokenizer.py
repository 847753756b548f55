import json
import os
import re
import subprocess
import sys
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    "I'm sure it's an old animal, and he'll be tired.",
    "Est-ce que l'animal est fatigué ? Oui, il est fatigué !",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
] * 3
SIZE = 401
FIRST_BYTE, FIRST_PIECE = 3, 259

tricky_text = st.text("' -’\u00a0aeé\u0301t5.▁", max_size=11)
any_text = tricky_text | st.text(st.characters(exclude_categories=["Cs"]))
# Characters whose class is the same in every version of Unicode, so that Python and the library agree.
settled_text = tricky_text | st.text(
    st.characters(max_codepoint=0x17F) | st.sampled_from("'' -’\u202f\u0301tls🙂世Ωя½")
)


TOKENIZER = Tokenizer.train(SENTENCES, vocabulary_size=SIZE)


@pytest.fixture
def tokenizer():
    return TOKENIZER


def plain(text):
    white_space = "[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
    return re.sub(white_space, " ", unicodedata.normalize("NFC", text)).strip(" ").replace("’", "'")


def encode_slowly(text, merges, id_of):
    """Encode a sentence step by step with plain lists."""
    of_class = {
        name: "".join({known, *(re.escape(c) for c in text if unicodedata.category(c)[0] == name)})
        for name, known in (("L", "a"), ("M", "\u0301"), ("N", "0"))
    }
    letter, part = f"[{of_class['L']}]", f"[{of_class['L']}{of_class['M']}]"
    ending = rf"'(?:[stmd]|re|ve|ll)(?!{letter})"
    text = plain(text).replace("' ", "'  ")
    text = re.sub(rf"(?<={part})(?!{ending})'(?={letter})", "' ", text)
    digit = f"[{of_class['N']}]"
    words = rf"{ending}|[ -]?{part}+(?:'(?= {letter}))?| ?{digit}| ?(?!{part}|{digit})[^ ]| "
    rank_of = {pair: rank for rank, pair in enumerate(merges)}
    ids = []
    for word in re.findall(words, " " + text, flags=re.DOTALL) if text else []:
        pieces = [bytes([byte]) for byte in word.encode()]
        while known := [pair for pair in pairwise(pieces) if pair in rank_of]:
            first = min(known, key=rank_of.__getitem__)
            place = list(pairwise(pieces)).index(first)
            pieces[place : place + 2] = [b"".join(first)]
        ids += [id_of[piece] for piece in pieces]
    return ids


@pytest.fixture
def tables(tokenizer, tmp_path):
    """Read merges and ids from the file, with each token as bytes."""
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    by_id = sorted(model["vocab"], key=model["vocab"].__getitem__)
    byte_of = {character: bytes([byte]) for byte, character in enumerate(by_id[FIRST_BYTE:FIRST_PIECE])}
    spell = lambda piece: b"".join(byte_of[character] for character in piece)  # noqa: E731
    ids = {spell(piece): id for id, piece in enumerate(by_id) if id >= FIRST_BYTE}
    return [(spell(left), spell(right)) for left, right in model["merges"]], ids


@given(any_text)
def test_decoding_inverts_encoding_of_any_normalised_sentence(text):
    assert TOKENIZER.decode(TOKENIZER.encode([text])) == [plain(text)]
    assert TOKENIZER.encode([text]) == TOKENIZER.encode([plain(text)])


def test_encoding_equals_a_step_by_step_computation(tables):
    @given(settled_text)
    def holds(text):
        assert TOKENIZER.encode([text]) == [encode_slowly(text, *tables)]

    holds()
    for text in SENTENCES[:5]:
        assert TOKENIZER.encode([text]) == [encode_slowly(text, *tables)]


@pytest.mark.parametrize(
    "text", ["l' animal", "l'animal", "the boys' dog", "'a' 'b'", "' ' '", "a'", "'", "’ x"]
)
def test_a_space_after_an_apostrophe_is_preserved(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode([text])) == [plain(text)]


def test_a_word_has_the_same_tokens_before_a_full_stop_and_after_an_elision(tokenizer):
    assert tokenizer.pieces("fatigué") == ["▁fatigué"]
    assert tokenizer.pieces("fatigué.") == ["▁fatigué", "."]
    assert tokenizer.pieces("l'animal") == ["▁l'", *tokenizer.pieces("animal")]
    assert tokenizer.pieces("l’animal") == tokenizer.pieces("l'animal")


def test_an_english_ending_keeps_its_apostrophe(tokenizer):
    assert tokenizer.pieces("didn't") == ["▁didn", "'t"]
    assert tokenizer.pieces("it's")[-2:] == ["▁it", "'s"]


def test_ids_are_special_tokens_then_bytes_then_merges(tokenizer):
    bytes_alone = Tokenizer.train([], vocabulary_size=FIRST_PIECE)
    assert (PAD_ID, START_ID, END_ID) == (0, 1, 2)
    assert bytes_alone.vocabulary_size == FIRST_PIECE
    assert bytes_alone.encode(["Aé"]) == [[FIRST_BYTE + byte for byte in " Aé".encode()]]
    assert tokenizer.vocabulary_size == SIZE
    assert min(tokenizer.encode(["fatigué"])[0]) >= FIRST_PIECE


def test_a_token_has_the_same_text_in_a_sentence_and_by_its_id(tokenizer):
    for sentence in ("fatigué.", "🙂"):
        assert [tokenizer.piece(id) for id in tokenizer.encode([sentence])[0]] == tokenizer.pieces(sentence)
    assert tokenizer.piece(END_ID) == "<end>"
    with pytest.raises(ValueError, match="id must be at least 0 and below the vocabulary size"):
        tokenizer.piece(tokenizer.vocabulary_size)


def test_few_sentences_yield_fewer_tokens_than_requested():
    assert Tokenizer.train(["ab ab"], vocabulary_size=SIZE).vocabulary_size == FIRST_PIECE + 2  # "ab", " ab"


@pytest.mark.parametrize("text", ["<pad>", "<start> a <end>", "</s>", "<end>"])
def test_the_name_of_a_special_token_is_ordinary_text(text):
    tokenizer = Tokenizer.train([*SENTENCES, *[text] * 31], vocabulary_size=SIZE)
    (ids,) = tokenizer.encode([text])
    assert min(ids) > END_ID
    assert tokenizer.decode([ids]) == [text]


def test_composed_and_decomposed_characters_have_the_same_ids(tokenizer):
    assert "e\u0301" != "é"
    assert tokenizer.encode(["fatigue\u0301"]) == tokenizer.encode(["fatigué"])


def test_digits_are_never_joined():
    tokenizer = Tokenizer.train(["In 2013"] * 31, vocabulary_size=SIZE)
    assert tokenizer.pieces("in 2013")[-4:] == ["▁2", "0", "1", "3"]


def test_case_is_kept(tokenizer):
    assert tokenizer.encode(["The"]) != tokenizer.encode(["the"])


def test_decoding_drops_special_tokens_and_stops_at_the_first_end(tokenizer):
    (ids,) = tokenizer.encode(["the animal"])
    rows = [[START_ID, *ids, END_ID, *ids], [*ids, END_ID, PAD_ID], [END_ID, *ids], []]
    assert tokenizer.decode(rows) == ["the animal", "the animal", "", ""]
    assert tokenizer.decode(np.array([[START_ID, *ids, END_ID, PAD_ID]])) == ["the animal"]


def test_a_partial_character_decodes_to_a_replacement_and_shows_as_its_byte(tokenizer):
    (ids,) = tokenizer.encode(["🙂"])
    assert tokenizer.decode([ids[:-1]]) == ["�"]
    assert tokenizer.pieces("🙂") == ["▁", "\\xf0", "\\x9f", "\\x99", "\\x82"]


def test_blank_sentences_have_no_ids(tokenizer):
    assert tokenizer.encode(["", " \t\u00a0\u202f\n"]) == [[], []]
    assert tokenizer.encode([]) == []


@pytest.mark.parametrize("line", ["animal " * 10_007, "a" * 100_003, "'" * 10_007])
def test_a_very_long_line_is_decoded_completely(tokenizer, line):
    assert tokenizer.decode(tokenizer.encode([line])) == [line.strip()]


def in_another_process(program, **environment):
    """Run a program in a new process, and return its output and warnings."""
    inherited = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    return subprocess.run(
        [sys.executable, "-c", f"from glassformer.data.tokenizer import Tokenizer\n{program}"],
        env=inherited | environment,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )


@pytest.mark.parametrize("threads", ["true", "false"])
def test_the_same_sentences_train_the_same_tokenizer_in_any_process(tokenizer, tmp_path, threads):
    tokenizer.save(tmp_path / "here.json")
    there = str(tmp_path / "there.json")
    program = f"Tokenizer.train({SENTENCES!r}, vocabulary_size={SIZE}).save({there!r})"
    in_another_process(program, TOKENIZERS_PARALLELISM=threads, PYTHONHASHSEED="7", PYTHONUTF8="1")
    assert (tmp_path / "here.json").read_bytes() == (tmp_path / "there.json").read_bytes()


def test_the_library_starts_no_threads_by_default():
    program = "import os; print(os.environ['TOKENIZERS_PARALLELISM'])"
    assert in_another_process(program).stdout.strip() == "false"
    assert in_another_process(program, TOKENIZERS_PARALLELISM="true").stdout.strip() == "true"


def test_a_saved_tokenizer_is_loaded_again(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    again = Tokenizer.load(str(path))
    assert again.encode(SENTENCES) == tokenizer.encode(SENTENCES)
    assert again.decode(again.encode(SENTENCES)) == SENTENCES


def test_the_library_can_use_the_file_directly(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "tokenizer.json")
    library = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert [library.encode(sentence).ids for sentence in SENTENCES] == tokenizer.encode(SENTENCES)


def test_a_full_disk_leaves_the_old_file_untouched(tokenizer, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Tokenizer.train(["another"], vocabulary_size=263).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.json"):
        Tokenizer.load(tmp_path / "absent.json")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_named_as_damaged(tokenizer, tmp_path, share):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"tokenizer\.json must contain a tokenizer, but is damaged: .*EOF"):
        Tokenizer.load(path)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"{}", b"PK\x03\x04"])
def test_a_file_without_a_tokenizer_is_rejected(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"tokenizer\.json must contain a tokenizer, but is damaged"):
        Tokenizer.load(path)


def test_a_tokenizer_with_other_rules_is_rejected(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(path)
    ours = path.read_text(encoding="utf-8")
    others = [
        tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a")).to_str(),
        tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")])).to_str(),
        ours.replace("[stmd]", "[st]"),
        ours.replace('"<pad>":0', '"<nil>":0'),
    ]
    for other in others:
        assert other != ours
        path.write_text(other, encoding="utf-8")
        with pytest.raises(ValueError, match=r"tokenizer\.json must contain .* got one of another kind"):
            Tokenizer.load(path)


@pytest.mark.parametrize("size", [0, 258, True, 300.0])
def test_a_vocabulary_too_small_for_special_tokens_and_bytes_is_rejected(as_a_user, size):
    with pytest.raises(ValueError, match=rf"vocabulary_size must be .* got {size}"):
        Tokenizer.train(SENTENCES, vocabulary_size=size)


def test_a_single_string_is_rejected(tokenizer, as_a_user):
    wanted = "sentences must be a list of strings, got the string 'the animal'"
    with pytest.raises(ValueError, match=wanted):
        tokenizer.encode("the animal")
    with pytest.raises(ValueError, match=wanted):
        Tokenizer.train("the animal", vocabulary_size=SIZE)


@pytest.mark.parametrize("bad", [None, 7, b"the", "\ud800"])
def test_a_sentence_that_is_not_text_is_named(tokenizer, as_a_user, bad):
    wanted = r"sentences must be text that UTF-8 can encode, got sentences\[1\] = " + re.escape(repr(bad))
    with pytest.raises(ValueError, match=wanted):
        tokenizer.encode(["the animal", bad])
    with pytest.raises(ValueError, match=wanted):
        Tokenizer.train(["the animal", bad], vocabulary_size=SIZE)


@pytest.mark.parametrize("id", [-1, SIZE])
def test_an_id_outside_the_vocabulary_is_reported_with_the_bounds(tokenizer, id):
    with pytest.raises(ValueError, match=rf"below the vocabulary size \({SIZE}\), got ids from {id} to {id}"):
        tokenizer.decode([[id]])

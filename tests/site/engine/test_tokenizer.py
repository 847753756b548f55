"""The tokenizer in JavaScript gives the same ids and pieces as in Python."""

import random

from engine import refusal, sentences

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID


def strings(count):
    """Generate every kind of text that a reader may type or paste, and some unlikely ones."""
    chance = random.Random(0)
    alphabets = [
        "aeé\u0301\u0308t5 '’-.s",
        " \t\n\v\f\r\x1c\x85\xa0\u1680\u2009\u2028\u202f\u3000\ufeff\u200b'a",
        "".join(map(chr, range(0x20))) + "\x7fab '",
        "🙂👩\u200d💻🇫🇷👍🏽❤️ a'",
        "Ωя世界語العربيةहिन्दी한글ไทย½Ⅷ² '",
        "".join(map(chr, range(0x21, 0x180))) + " '",
        "\u1e9b\u0323\u212b\u2126\uac00\u1100\u1161\ufb01Å a",
    ]
    apart = ["l'animal", "qu’il", "aujourd’hui", "12,5", "'tis", "<end>", "rock 'n' roll"]
    words = [*" ".join(sentences(250)).split(), *apart]
    anything = [character for character in map(chr, range(0x3000)) if character.isprintable()]
    made = [
        "",
        " ",
        "'",
        "’ x",
        "l' animal",
        "\ufeffthe",
        "x" * 10_007,
        "é" * 3001,
        "' " * 1009,
        "the " * 1009,
    ]
    while len(made) < count:
        alphabet = chance.choice([*alphabets, words, words, anything])
        made.append(
            (" " if alphabet is words else "").join(chance.choices(alphabet, k=chance.randint(1, 13)))
        )
    return made


def test_every_string_has_the_same_ids_and_pieces_as_in_python(engine, translator):
    texts = strings(4500)
    ids = translator.tokenizer.encode(texts)
    assert engine.run("texts => texts.map((text) => translator.tokenizer.encode(text))", texts) == ids
    few = slice(0, 1500)
    show = "rows => rows.map((ids) => ids.map((id) => translator.tokenizer.piece(id)))"
    assert engine.run(show, ids[few]) == [translator.tokenizer.pieces(text) for text in texts[few]]


def test_any_ids_are_decoded_like_in_python(engine, translator):
    chance = random.Random(1)
    size = translator.tokenizer.vocabulary_size
    rows = [translator.tokenizer.encode([text])[0] for text in strings(1500)]
    rows += [chance.choices(range(3, 259), k=chance.randint(1, 9)) for _ in range(1000)]  # stray bytes
    rows += [
        chance.choices(range(size), k=7) + chance.choices([START_ID, PAD_ID, END_ID, 400], k=3)
        for _ in range(500)
    ]
    decode = "rows => rows.map((ids) => translator.tokenizer.decode(ids))"
    assert engine.run(decode, rows) == translator.tokenizer.decode(rows)


def test_a_tokenizer_with_few_or_no_merges_can_be_read(engine, tmp_path):
    for merges in ([], ["ab ab aba"] * 3):
        tokenizer = Tokenizer.train(merges, vocabulary_size=263)
        tokenizer.save(tmp_path / "tokenizer.json")
        text = (tmp_path / "tokenizer.json").read_text(encoding="utf-8")
        found = engine.run("text => new glassformer.Tokenizer(text).encode('abab ab aaba é')", text)
        assert [found] == tokenizer.encode(["abab ab aaba é"])


def test_an_unpaired_surrogate_is_an_error(engine):
    assert "half of a surrogate pair" in refusal(engine, "() => translator.translate('a\\ud800')")

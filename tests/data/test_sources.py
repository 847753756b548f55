import re
from collections import Counter
from pathlib import PurePosixPath

import pytest

from glassformer.data.sources import SOURCES

FILES = list(dict.fromkeys(file for source in SOURCES.values() for file in source.files))
COMMIT = re.compile(r"[/@][0-9a-f]{40}/")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_file_has_a_checksum_and_mirrors_on_more_than_one_host(file):
    assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
    assert len({address.split("/")[2] for address in file.mirrors}) > 1
    assert len(set(file.mirrors)) == len(file.mirrors)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_address_is_secure_and_names_a_fixed_commit_or_the_copy_of_a_book(file):
    for address in file.mirrors:
        assert address.startswith("https://")
        assert COMMIT.search(address) or address == "https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip"


def test_no_two_files_share_a_path_or_a_checksum():
    assert Counter(file.path for file in FILES).most_common(1)[0][1] == 1
    assert Counter(file.sha256 for file in FILES).most_common(1)[0][1] == 1


@pytest.mark.parametrize("target_language", ["de", "fr"])
def test_multi30k_has_every_split_in_exactly_its_two_languages(target_language):
    names = [PurePosixPath(file.path) for file in SOURCES[f"multi30k-en-{target_language}"].files]
    splits = {"train", "val", "test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr"}
    assert {name.stem for name in names if name.suffix == ".en"} == splits
    assert {name.stem for name in names if name.suffix == f".{target_language}"} == splits
    assert len(names) == 2 * len(splits)


def test_each_corpus_states_its_terms():
    assert "CC BY" in SOURCES["tatoeba-en-fr"].licence
    assert "tatoeba.org" in SOURCES["tatoeba-en-fr"].attribution
    for name in ("multi30k-en-de", "multi30k-en-fr"):
        assert "non-commercial research and education only" in SOURCES[name].licence

"""Sources of the corpora: addresses, terms of use and checksums.

Every address names a fixed commit or a fixed copy. The newest Tatoeba pairs are at
https://www.manythings.org/anki/fra-eng.zip, but that file changes over time: it cannot be pinned, and another
version would give different splits.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from glassformer.data.downloads import PinnedFile


@dataclass(frozen=True)
class Source:
    """Files of a corpus and their terms of use.

    Attributes:
        licence: short form of the terms.
        attribution: names or works to credit.
        files: all files of the corpus.
    """

    licence: str
    attribution: str
    files: tuple[PinnedFile, ...]


_TATOEBA = Source(
    licence="CC BY 2.0 FR",
    attribution="sentences of tatoeba.org, paired by www.manythings.org/anki (2019-04-07)",
    files=(
        PinnedFile(
            "tatoeba_en_fr/fra.txt",
            "0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104",
            (
                "https://raw.githubusercontent.com/modelexlab/data/adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
                "https://cdn.jsdelivr.net/gh/modelexlab/data@adddaf33ac35572bcfeb421efec29435e7ea9332/fra-eng.zip",
                "https://d2l-data.s3-accelerate.amazonaws.com/fra-eng.zip",
                "https://raw.githubusercontent.com/zhangkuntony/D2L/77b673fe6cc32483ab3066a3ec1f5dce5cdc4e1f/data/fra-eng/fra.txt",
            ),
        ),
    ),
)

_MULTI30K_COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
_MULTI30K_MIRRORS = (
    f"https://raw.githubusercontent.com/multi30k/dataset/{_MULTI30K_COMMIT}/data/task1/raw",
    f"https://cdn.jsdelivr.net/gh/multi30k/dataset@{_MULTI30K_COMMIT}/data/task1/raw",
    f"https://github.com/multi30k/dataset/raw/{_MULTI30K_COMMIT}/data/task1/raw",
)
_MULTI30K_SHA256 = {
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "train.fr": "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "val.fr": "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
    "test_2016_flickr.fr": "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
    "test_2017_flickr.de": "c3078bc3b36808bf9d20eb2347ed6137016179ef59ec0d2b9b8ecc3fb2880081",
    "test_2017_flickr.en": "ce1450ddc5ab0834502579d77a170849952e15a2938b34cc503bdc25ebb4fb98",
    "test_2017_flickr.fr": "6f3764e31dac41e9455e612958bcfd4e877c5e15cd66df2c2b2be6d9bd83e5b6",
    "test_2017_mscoco.de": "58277df3c75f92f7145a11b910b553d1cf82c439249d4dc237c899609eafac22",
    "test_2017_mscoco.en": "43051fdfa86fd5395182e718a94ca67b1b227b9f7c79596ff0f6b813216981d2",
    "test_2017_mscoco.fr": "39cde3f43f32b0a6bf29ce4917a46329ff32e53070c2fac87506695a740ae0a0",
    "test_2018_flickr.de": "39fcc8b3331d76fb42d648d019c6898b0d5e58baac87bc2a0bb93f44ec8db207",
    "test_2018_flickr.en": "4e585c2dd525911a6ea7730e9d0b516239af3f1b1ffae6a2130223cfb639f25e",
    "test_2018_flickr.fr": "234b4a887da0da4801a3e2c6f21336231ff7dd46daeb80cfa1b551c8bbb78239",
}


def _multi30k(target_language: str, attribution: str) -> Source:
    return Source(
        licence="non-commercial research and education only (the terms of Flickr30K); not to be passed on",
        attribution=attribution,
        files=tuple(
            PinnedFile(
                f"multi30k/{name}", sha256, tuple(f"{mirror}/{name}.gz" for mirror in _MULTI30K_MIRRORS)
            )
            for name, sha256 in _MULTI30K_SHA256.items()
            if name.endswith((".en", f".{target_language}"))
        ),
    )


SOURCES: Mapping[str, Source] = {
    "tatoeba-en-fr": _TATOEBA,
    "multi30k-en-de": _multi30k("de", "Multi30K: Elliott et al. (2016; 2017), Barrault et al. (2018)"),
    "multi30k-en-fr": _multi30k("fr", "Multi30K: Elliott et al. (2017), Barrault et al. (2018)"),
}

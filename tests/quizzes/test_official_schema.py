"""Exported packages are valid by the official QTI 2.1 schema, which is not shipped here."""

import os
import zipfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree

from bookkit.quizzes.export import export_quizzes

OPENING = '<schema xmlns="http://www.w3.org/2001/XMLSchema"'
OUTER = f"""{OPENING} xmlns:i="urn:inner">
  <import namespace="urn:inner" schemaLocation="http://far.example/xsd/inner.xsd"/>
  <element name="outer"><complexType><sequence><element ref="i:inner"/></sequence></complexType></element>
</schema>"""
INNER = f"""{OPENING} targetNamespace="urn:inner"><element name="inner"/></schema>"""


class Beside(etree.Resolver):
    """Find an imported schema at its location or by its name beside the first one, never over the network."""

    def __init__(self, folder):
        self.folder, self.missing = folder, []

    def resolve(self, url, public_id, context):
        path = Path(unquote(urlsplit(url).path))
        places = [path] if path.is_file() else sorted(self.folder.rglob(path.name))
        if places:
            return self.resolve_filename(str(places[0]), context)
        self.missing.append(url)
        return self.resolve_string("<missing/>", context)


def read_schema(path):
    if not path.is_file():
        raise FileNotFoundError(f"no schema to read: {path}")
    beside = Beside(path.parent)
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(beside)
    try:
        return etree.XMLSchema(etree.parse(path, parser))
    except (etree.XMLSchemaParseError, etree.XMLSyntaxError) as error:
        if not beside.missing:
            raise
        raise FileNotFoundError(
            f"{path} needs {', '.join(beside.missing)}: not beside it or below"
        ) from error


def test_an_imported_schema_is_found_beside_the_first_or_reported_as_missing(tmp_path):
    first = tmp_path / "outer.xsd"
    first.write_text(OUTER)
    with pytest.raises(
        FileNotFoundError, match=r"outer.xsd needs http://far.example/xsd/inner.xsd: not beside"
    ):
        read_schema(first)
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "inner.xsd").write_text(INNER)
    schema = read_schema(first)
    assert schema.validate(etree.fromstring('<outer><inner xmlns="urn:inner"/></outer>'))
    assert not schema.validate(etree.fromstring("<outer/>"))


@pytest.mark.skipif(
    "GLASSFORMER_QTI_SCHEMA" not in os.environ,
    reason="GLASSFORMER_QTI_SCHEMA names no official imsqti_v2p1.xsd",
)
def test_every_item_and_every_test_is_valid_by_the_official_schema(tmp_path):
    schema = read_schema(Path(os.environ["GLASSFORMER_QTI_SCHEMA"]))
    export_quizzes(tmp_path)
    for path in tmp_path.glob("*.zip"):
        with zipfile.ZipFile(path) as package:
            for name in {*package.namelist()} - {"imsmanifest.xml"}:
                document = etree.fromstring(package.read(name))
                assert schema.validate(document), f"{path.name}, {name}: {schema.error_log.last_error}"
                del document.attrib["title"]
                assert not schema.validate(document), f"{path.name}, {name}: no title is missed"

"""Pack the questions of a chapter as QTI 2.1: items, a test that asks them in order, and a manifest."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from lxml import etree
from lxml.builder import ElementMaker
from lxml.etree import _Element as Element

from bookkit.quizzes.qti_items import SCHEMA, Q, write_item
from glassformer.widgets import Question

IMSCP = "http://www.imsglobal.org/xsd/imscp_v1p1"
M = ElementMaker(namespace=IMSCP, nsmap={None: IMSCP})
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same questions make the same bytes


def write_package(path: Path, slug: str, title: str, questions: Sequence[Question]) -> None:
    """Write the package; it stands in its place only when it is whole.

    Args:
        path: the zip file.
        slug: the chapter's name, by which the test is known.
        title: the chapter's title.
        questions: what is asked, in this order.
    """
    files = {f"items/{question.id}.xml": write_item(question) for question in questions}
    files["test.xml"] = write_test(slug, title, questions)
    files["imsmanifest.xml"] = write_manifest(slug, questions)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as package:
        for name, root in sorted(files.items()):
            text = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
            package.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
    unfinished.replace(path)


def write_test(slug: str, title: str, questions: Sequence[Question]) -> Element:
    """Write the ``assessmentTest``: one part, as many tries as one likes, the score a sum."""
    references = [
        Q.assessmentItemRef(identifier=question.id, href=f"items/{question.id}.xml") for question in questions
    ]
    section = Q.assessmentSection(*references, identifier=f"{slug}-section", title=title, visible="true")
    control = Q.itemSessionControl(maxAttempts="0", showFeedback="true", allowReview="true")
    part = Q.testPart(
        control, section, identifier=f"{slug}-part", navigationMode="nonlinear", submissionMode="individual"
    )
    return Q.assessmentTest(
        Q.outcomeDeclaration(identifier="SCORE", cardinality="single", baseType="float"),
        part,
        Q.outcomeProcessing(
            Q.setOutcomeValue(Q.sum(Q.testVariables(variableIdentifier="SCORE")), identifier="SCORE")
        ),
        {"identifier": f"{slug}-test", "title": title, **SCHEMA},
    )


def write_manifest(slug: str, questions: Sequence[Question]) -> Element:
    """Write the ``manifest``: which files there are, and what they need."""
    items = [
        M.resource(
            M.file(href=f"items/{question.id}.xml"),
            identifier=question.id,
            type="imsqti_item_xmlv2p1",
            href=f"items/{question.id}.xml",
        )
        for question in questions
    ]
    test = M.resource(
        M.file(href="test.xml"),
        *(M.dependency(identifierref=question.id) for question in questions),
        identifier=f"{slug}-test",
        type="imsqti_test_xmlv2p1",
        href="test.xml",
    )
    return M.manifest(
        M.metadata(M.schema("QTIv2.1 Package"), M.schemaversion("1.0.0")),
        M.organizations(),
        M.resources(test, *items),
        identifier=f"glassformer-{slug}",
    )

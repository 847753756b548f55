"""Write the questions of a chapter as a QTI 2.1 package: items, a test, and a manifest."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

from lxml import etree
from lxml.builder import ElementMaker
from lxml.etree import _Element as Element

from bookkit.quizzes.qti_items import SCHEMA, Q, write_item
from glassformer.files import atomic_write
from glassformer.widgets import Question

IMSCP = "http://www.imsglobal.org/xsd/imscp_v1p1"
M = ElementMaker(namespace=IMSCP, nsmap={None: IMSCP})
EPOCH = (1980, 1, 1, 0, 0, 0)  # fixed, so that the same questions give the same bytes


def write_package(path: Path, slug: str, title: str, questions: Sequence[Question]) -> None:
    """Write the package; the file appears only when it is complete.

    Args:
        path: zip file to write.
        slug: name of the chapter, used as the id of the test.
        title: title of the chapter.
        questions: questions in order.
    """
    files = {f"items/{question.id}.xml": write_item(question) for question in questions}
    files["test.xml"] = write_test(slug, title, questions)
    files["imsmanifest.xml"] = write_manifest(slug, questions)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as package:
        for name, root in sorted(files.items()):
            text = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
            package.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)


def write_test(slug: str, title: str, questions: Sequence[Question]) -> Element:
    """Write the ``assessmentTest``: one part, unlimited attempts, the sum as score."""
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
    """Write the ``manifest``: the files and their dependencies."""
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

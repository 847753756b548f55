"""Exported quizzes are valid packages that score each answer as the page does."""

import hashlib
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from bookkit.chapters import slugs
from bookkit.quizzes.export import export_quizzes
from bookkit.quizzes.moodle import write_moodle
from bookkit.quizzes.qti_items import QTI, write_item
from bookkit.quizzes.qti_package import write_manifest, write_package, write_test
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).with_name("qti.rng")))
PREFIX = {"q": QTI, "c": "http://www.imsglobal.org/xsd/imscp_v1p1"}
ONE = OneOf(
    "sums-one", "`1 + 2`?", (wrong("2", "Too few."), right("3", "Counted."), wrong("5 & 6", "Too many."))
)
SEVERAL = SeveralOf(
    "sums-odd", "Odd?", (right("7", "Odd."), wrong("8", "8 is even."), right("9", "9 is odd."))
)
NUMBER = Number("sums-half", "1/2?", 0.5, "Half.", within=0.01, mistakes=((2.0, "Turned round."),))
WHOLE = Number("sums-whole", "2 + 5?", 7, "Counted.", mistakes=((10, "Multiplied."),))
ALL = (ONE, SEVERAL, NUMBER, WHOLE)


def documents(path):
    with zipfile.ZipFile(path) as package:
        return {name: etree.fromstring(package.read(name)) for name in package.namelist()}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quizzes")
    export_quizzes(folder)
    return folder


def test_every_chapter_is_exported(exported):
    assert sorted(path.name for path in exported.iterdir()) == sorted(
        name for slug in slugs() for name in (f"{slug}.xml", f"{slug}.zip")
    )


def test_every_exported_file_is_valid(exported):
    for slug in slugs():
        for name, document in documents(exported / f"{slug}.zip").items():
            assert SCHEMA.validate(document), f"{slug}, {name}: {SCHEMA.error_log.last_error}"


def test_the_manifest_and_the_test_list_exactly_the_files_of_the_package(tmp_path):
    write_package(tmp_path / "sums.zip", "sums", "Sums", ALL)
    files = documents(tmp_path / "sums.zip")
    manifest, test = files["imsmanifest.xml"], files["test.xml"]
    assert sorted(manifest.xpath("//c:file/@href", namespaces=PREFIX)) == sorted(
        {*files} - {"imsmanifest.xml"}
    )
    hrefs = test.xpath("//q:assessmentItemRef/@href", namespaces=PREFIX)
    assert hrefs == [f"items/{question.id}.xml" for question in ALL]
    needed = manifest.xpath("//c:dependency/@identifierref", namespaces=PREFIX)
    assert needed == [question.id for question in ALL]
    assert [files[href].get("identifier") for href in hrefs] == needed


def test_the_same_questions_give_the_same_bytes_and_no_temporary_files(tmp_path):
    digests = set()
    for _ in range(2):
        write_package(tmp_path / "sums.zip", "sums", "Sums", ALL)
        digests.add(hashlib.sha256((tmp_path / "sums.zip").read_bytes()).hexdigest())
    assert len(digests) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["sums.zip"]


# ---- The schema ----


TEST = write_test("sums", "Sums", ALL)
MANIFEST = write_manifest("sums", ALL)
TWICE = '<match><variable identifier="SCORE"/><variable identifier="SCORE"/></match>'
EARLY = '<modalFeedback outcomeIdentifier="FEEDBACK" identifier="A" showHide="show">Early.</modalFeedback>'


@pytest.mark.parametrize(
    ("document", "piece", "fault"),
    [
        (write_item(ONE), ' timeDependent="false"', ""),
        (write_item(ONE), 'adaptive="false"', 'adaptive="no"'),
        (write_item(ONE), 'cardinality="single"', 'cardinality="one"'),
        (write_item(ONE), 'baseType="identifier"', 'baseType="name"'),
        (write_item(ONE), '<value>B</value>', ""),
        (write_item(ONE), '<value>B</value>', "<value>B</value><value>C</value>"),
        (write_item(ONE), 'maxChoices="1"', 'maxChoices="-1"'),
        (write_item(ONE), 'maxChoices="1"', 'maxChoices="2147483648"'),
        (write_item(ONE), 'simpleChoice identifier="A"', 'simpleChoice identifier="1"'),
        (write_item(ONE), 'simpleChoice identifier="A"', "simpleChoice"),
        (write_item(ONE), "</choiceInteraction>", "<prompt>Late.</prompt></choiceInteraction>"),
        (write_item(ONE), "<itemBody>", f"{EARLY}<itemBody>"),
        (write_item(ONE), "<itemBody>", "<itemBody>Bare words."),
        (write_item(ONE), "<itemBody>", "<itemBody><code>1</code>"),
        (write_item(ONE), ' showHide="show"', ""),
        (write_item(ONE), ' outcomeIdentifier="FEEDBACK"', ""),
        (write_item(ONE), '<correct identifier="RESPONSE"/>', ""),
        (write_item(ONE), '<variable identifier="RESPONSE"/>', '<testVariables variableIdentifier="SCORE"/>'),
        (write_item(NUMBER), 'toleranceMode="absolute"', 'toleranceMode="about"'),
        (write_item(NUMBER), 'tolerance="0.01 0.01"', 'tolerance="0 0"'),
        (write_item(NUMBER), 'tolerance="0.01 0.01"', ""),
        (write_item(NUMBER), "<value>0.5</value>", "<value>half</value>"),
        (write_item(NUMBER), "<p>1/2?</p>", '<prompt>1/2?</prompt>'),
        (write_item(NUMBER), "<responseElse>", "<responseElse/><responseElse>"),
        (TEST, ' visible="true"', ""),
        (TEST, ' navigationMode="nonlinear"', ""),
        (TEST, 'submissionMode="individual"', 'submissionMode="one by one"'),
        (TEST, '<testVariables variableIdentifier="SCORE"/>', TWICE),
        (TEST, ' href="items/sums-one.xml"', ""),
        (MANIFEST, "<organizations/>", ""),
        (MANIFEST, "QTIv2.1 Package", "QTI"),
        (MANIFEST, 'identifier="sums-one"', 'identifier="1"'),
        (MANIFEST, 'type="imsqti_item_xmlv2p1"', 'type="item"'),
        (MANIFEST, '<file href="items/sums-one.xml"/>', "<file/>"),
    ],
)  # fmt: skip
def test_the_schema_rejects_a_file_with_one_fault(document, piece, fault):
    text = etree.tostring(document, encoding="unicode")
    assert piece in text
    SCHEMA.assertValid(etree.fromstring(text))
    assert not SCHEMA.validate(etree.fromstring(text.replace(piece, fault, 1)))


def wrong_names(item):
    """Yield names that are undeclared, unused or used twice, which no schema detects."""

    def names(path):
        return item.xpath(path, namespaces=PREFIX)

    responses = names("q:responseDeclaration/@identifier")
    outcomes = names("q:outcomeDeclaration/@identifier")
    choices = names("//q:simpleChoice/@identifier")
    feedbacks = names("q:modalFeedback/@identifier")
    asked = names("//@responseIdentifier | //q:variable/@identifier | //q:correct/@identifier")
    told = names("//@outcomeIdentifier | //q:setOutcomeValue/@identifier")
    shown = choices or names("//q:setOutcomeValue[@identifier='FEEDBACK']/q:baseValue/text()")
    for used, declared in ((asked, responses), (told, outcomes), (shown, feedbacks)):
        yield from {*used} ^ {*declared}
    if choices:
        yield from {*names("//q:correctResponse/q:value/text()")} - {*choices}
    for together in ([*responses, *outcomes], choices, feedbacks):
        yield from {name for name in together if together.count(name) > 1}


def test_every_name_in_an_item_is_declared_used_and_unique(exported):
    for slug in slugs():
        files = documents(exported / f"{slug}.zip")
        for name, document in files.items():
            if name.startswith("items/"):
                assert not [*wrong_names(document)], f"{slug}, {name}"
        for name in ("test.xml", "imsmanifest.xml"):
            names = files[name].xpath(
                "//c:*/@identifier | //*[@title or @href]/@identifier", namespaces=PREFIX
            )
            names += files[name].xpath("//q:testPart/@identifier", namespaces=PREFIX)
            assert len({*names}) == len(names) > 1, f"{slug}, {name}"


@pytest.mark.parametrize(
    ("question", "piece", "fault"),
    [
        (ONE, 'responseIdentifier="RESPONSE"', 'responseIdentifier="ANSWER"'),
        (ONE, 'outcomeIdentifier="FEEDBACK"', 'outcomeIdentifier="SAID"'),
        (ONE, 'simpleChoice identifier="A"', 'simpleChoice identifier="B"'),
        (SEVERAL, "<value>C</value>", "<value>D</value>"),
        (NUMBER, '<correct identifier="RESPONSE"/>', '<correct identifier="SCORE"/>'),
        (NUMBER, ">WRONG</baseValue>", ">FALSE</baseValue>"),
    ],
)
def test_an_undeclared_name_is_found(question, piece, fault):
    text = etree.tostring(write_item(question), encoding="unicode")
    assert piece in text
    assert not [*wrong_names(etree.fromstring(text))]
    assert [*wrong_names(etree.fromstring(text.replace(piece, fault, 1)))]


# ---- Scored as by a platform ----


def judge(question, response):
    """Run an item's response processing by the specification; return the score and the feedback."""
    item = write_item(question)
    values = {"RESPONSE": response, "SCORE": 0.0, "FEEDBACK": None}
    correct = [value.text for value in item.findall(".//q:correctResponse/q:value", PREFIX)]

    def name(node):
        return etree.QName(node).localname

    def evaluate(node):
        kind, inner = name(node), list(node)
        match kind:
            case "variable":
                return values[node.get("identifier")]
            case "correct":
                return float(correct[0]) if isinstance(response, float) else set(correct)
            case "baseValue":
                return float(node.text) if node.get("baseType") == "float" else {node.text}
            case "match":
                return evaluate(inner[0]) == evaluate(inner[1])
            case "equal":
                below, above = map(float, node.get("tolerance", "0 0").split())
                one, other = map(evaluate, inner)
                return other - below <= one <= other + above
        raise AssertionError(kind)

    def run(rules):
        for rule in rules:
            if name(rule) == "setOutcomeValue":
                values[rule.get("identifier")] = evaluate(rule[0])
            elif name(rule) == "responseCondition":
                branches = (
                    branch for branch in rule if name(branch) == "responseElse" or evaluate(branch[0])
                )
                for branch in branches:
                    run(branch if name(branch) == "responseElse" else branch[1:])
                    break

    run(item.find("q:responseProcessing", PREFIX))
    shown = [
        "".join(feedback.itertext())
        for feedback in item.findall("q:modalFeedback", PREFIX)
        if feedback.get("identifier") in values["FEEDBACK"]
    ]
    return values["SCORE"], shown


@pytest.mark.parametrize(
    ("question", "response", "score", "shown"),
    [
        (ONE, {"A"}, 0, ["No. Too few."]),
        (ONE, {"B"}, 1, ["Right. Counted."]),
        (SEVERAL, {"A", "C"}, 1, ["Right. Odd.", "Right. 9 is odd."]),
        (SEVERAL, {"A"}, 0, ["Right. Odd."]),
        (SEVERAL, {"A", "B", "C"}, 0, ["Right. Odd.", "No. 8 is even.", "Right. 9 is odd."]),
        (NUMBER, 0.5, 1, ["Right. Half."]),
        (NUMBER, 0.509, 1, ["Right. Half."]),
        (NUMBER, 0.489, 0, ["No. The answer is 0.50. Half."]),
        (NUMBER, 2.0, 0, ["No. Turned round."]),
        (WHOLE, 7.0, 1, ["Right. Counted."]),
        (WHOLE, 7.5, 0, ["No. The answer is 7. Counted."]),
        (WHOLE, 10.0, 0, ["No. Multiplied."]),
    ],
)
def test_a_platform_gives_the_score_and_feedback_of_the_page(question, response, score, shown):
    assert judge(question, response) == (score, shown)


# ---- Moodle ----


def test_moodle_gets_the_fraction_and_the_feedback_of_each_answer(tmp_path):
    write_moodle(tmp_path / "sums.xml", "sums", ALL)
    category, one, several, number, whole = etree.parse(tmp_path / "sums.xml").getroot()
    assert category.findtext("category/text") == "$course$/Glassformer/sums"
    assert [answer.get("fraction") for answer in one.findall("answer")] == ["0", "100", "0"]
    assert [answer.get("fraction") for answer in several.findall("answer")] == ["50", "-100", "50"]
    assert (one.findtext("single"), several.findtext("single")) == ("true", "false")
    assert one.findtext("questiontext/text") == "<p><code>1 + 2</code>?</p>"
    assert one.findall("answer")[2].findtext("text") == "<p>5 &amp; 6</p>"
    assert [answer.findtext("text") for answer in number.findall("answer")] == ["0.5", "2", "*"]
    assert [answer.findtext("tolerance") for answer in number.findall("answer")] == ["0.01", "0.01", None]
    said = [answer.findtext("feedback/text") for answer in whole.findall("answer")]
    assert said == ["<p>Counted.</p>", "<p>Multiplied.</p>", "<p>The answer is 7. Counted.</p>"]

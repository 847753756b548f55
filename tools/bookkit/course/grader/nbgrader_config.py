"""How nbgrader runs this course: it keeps the book, the referee judges."""

import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parent
sys.path.insert(0, str(COURSE))

c = get_config()  # type: ignore[name-defined]  # nbgrader brings it
c.CourseDirectory.root = str(COURSE)
c.CourseDirectory.course_id = "glassformer"
# A learner's cell begins as it stands in the book, with dots and nothing added.
c.ClearSolutions.code_stub = {"python": ""}
c.Autograde.sanitize_preprocessors = [
    "grader.restore.Restore",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "grader.judge.Judge",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.ExportApp.plugin_class = "grader.export.ExerciseExport"
# What one run of a learner's cells, one exercise, and one submission may take.
c.Judge.seconds_a_call = 10
c.Judge.seconds_an_exercise = 60
c.Judge.seconds_in_all = 600
c.Judge.memory = 1024

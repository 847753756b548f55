"""Configuration of nbgrader for this course."""

import sys
from pathlib import Path

COURSE = Path(__file__).resolve().parent
sys.path.insert(0, str(COURSE))

c = get_config()  # type: ignore[name-defined]  # nbgrader brings it
c.CourseDirectory.root = str(COURSE)
c.CourseDirectory.course_id = "glassformer"
# The learner's cell keeps the starter code of the book; nbgrader adds nothing.
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
# Limits: seconds for one run of a learner's cells, one exercise and one submission; MiB for one run.
c.Judge.seconds_per_call = 10
c.Judge.seconds_per_exercise = 60
c.Judge.seconds_per_submission = 600
c.Judge.memory = 1024

"""Build an nbgrader course from the exercises of the chapters."""

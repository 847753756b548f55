"""Tools that make the site, the slides, the quizzes and the course from the sources of the book."""

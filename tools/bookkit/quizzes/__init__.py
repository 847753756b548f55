"""Export the quizzes for learning platforms."""

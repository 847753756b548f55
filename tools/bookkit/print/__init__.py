"""Print the built site and the slides with Chromium."""

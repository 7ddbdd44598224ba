"""What is wrong with a client's set-up, and how to mend it."""

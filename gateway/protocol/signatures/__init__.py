"""AWS signatures: who signed the head of a request, and what they said of its body."""

"""AWS signatures of a request's head, which also cover its body."""

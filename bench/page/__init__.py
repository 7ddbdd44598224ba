"""The web page as a browser gets it: its size over the wire, and Lighthouse's judgement."""

"""The output of one hook, which users read."""

from graveler.limits import HOOK_OUTPUT_BYTES_MAX


class Output:
    """Collects text up to HOOK_OUTPUT_BYTES_MAX."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = HOOK_OUTPUT_BYTES_MAX

    def write(self, text: str) -> None:
        """Append the text; cut it off where the output is full."""
        size_bytes = len(text.encode("utf-8", "replace"))
        if size_bytes > self._left:
            cut = text.encode("utf-8", "replace")[: self._left].decode("utf-8", "ignore")
            text = f"{cut}\n[cut off]\n" if self._left else ""
        self._left = max(0, self._left - size_bytes)
        self._parts.append(text)

    @property
    def text(self) -> str:
        return "".join(self._parts)

"""Bars for long work: on terminals, and in notebooks."""

import sys
import time


def _in_notebook():
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class _Bar:
    """One line on stderr, redrawn at most ten times a second; removed at the end."""

    _WIDTH = 24
    _QUIET = 0.5  # Seconds before the first line: short work shows nothing.

    def __init__(self):
        self._start = time.monotonic()
        self._last = 0.0
        self._drawn = 0

    def __call__(self, task, done, total):
        now = time.monotonic()
        if now - self._start < self._QUIET or now - self._last < 0.1:
            return
        self._last = now
        if total > 0:
            share = min(done / total, 1.0)
            bar = "=" * int(share * self._WIDTH)
            line = f"{task} [{bar:<{self._WIDTH}}] {100 * share:.0f}%"
        else:
            line = f"{task} {done}"
        sys.stderr.write("\r" + line.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(line)

    def close(self):
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()


def make_bar(progress):
    """A bar, or None if nobody would see it; True asks for one in any case."""
    if progress is True or _in_notebook():
        return _Bar()
    try:
        return _Bar() if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # No stderr, or a closed one.
        return None

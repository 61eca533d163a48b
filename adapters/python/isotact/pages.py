"""Runs as pages: in a file, a browser, or a notebook."""

import base64
import pathlib
import tempfile
import webbrowser


class Page:
    """A page that plays a run. Notebooks show it inline; elsewhere it is a file."""

    def __init__(self, path, text, height):
        self.path = path
        self._text = text
        self._height = height

    def _repr_html_(self):
        data = base64.b64encode(self._text.encode()).decode()
        return (
            f'<iframe src="data:text/html;base64,{data}" width="100%" '
            f'height="{self._height}" style="border:0"></iframe>'
        )

    def open(self):
        """Opens the page in a browser; returns whether one was found."""
        return webbrowser.open(pathlib.Path(self.path).absolute().as_uri())

    def __repr__(self):
        return f"<isotact page: {self.path}>"


def show(run, path=None, *, height=540):
    """Writes the page that plays a run, and returns it: notebooks display it inline.

    path: the file (.html); without it, a new file in the folder for temporary files.
    """
    text = run.page()
    if path is None:
        with tempfile.NamedTemporaryFile(
            "w", suffix=".html", prefix="isotact_", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        return Page(file.name, text, height)
    pathlib.Path(path).write_text(text, encoding="utf-8")
    return Page(str(path), text, height)

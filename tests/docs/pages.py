"""Which pages there are: what a reader of the project comes across."""


def all_pages(source):
    pages = [source / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    pages += sorted((source / "docs").rglob("*.md"))
    return [str(p.relative_to(source)) for p in pages]

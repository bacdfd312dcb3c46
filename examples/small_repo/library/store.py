"""Catalogues on disk."""

import json
import os
from contextlib import contextmanager
from pathlib import Path

from . import books as _books


@contextmanager
def replaced(path):
    """A file that takes the place of another once it is whole."""
    draft = Path(f"{path}.draft")
    with draft.open("w") as file:
        yield file
    os.replace(draft, path)


def save(catalogue, path):
    with replaced(path) as file:
        json.dump([vars(each) for each in catalogue], file)


def load(path):
    catalogue = _books.Catalogue()
    for each in json.loads(Path(path).read_text()):
        catalogue.add(_books.Book(**each))
    return catalogue


def default_path():
    return os.environ.get("LIBRARY_FILE", "library.json")

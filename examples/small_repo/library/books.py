"""Books, and the catalogue that finds them."""

from __future__ import annotations

from dataclasses import dataclass, field

from library.text import normalised


@dataclass(frozen=True)
class Book:
    """One title."""

    title: str
    author: str
    copies: int = 1

    @property
    def key(self) -> str:
        return normalised(self.title)


@dataclass
class Catalogue:
    """All titles by their keys."""

    books: dict[str, Book] = field(default_factory=dict)

    def add(self, book: Book) -> Book:
        self.books[book.key] = book
        return book

    def find(self, words: str) -> Book:
        try:
            return self.books[normalised(words)]
        except KeyError:
            raise LookupError(words) from None

    def __iter__(self):
        return iter(sorted(self.books.values(), key=lambda book: book.title))

    def __len__(self) -> int:
        return len(self.books)

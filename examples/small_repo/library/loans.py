"""The desk: who has which book."""

from library import notices
from library.books import Catalogue
from library.members import Member


class LimitReached(Exception):
    """A member has as many books as may be."""


class Desk:
    def __init__(self, catalogue: Catalogue, tell=notices.silent) -> None:
        self.catalogue = catalogue
        self.tell = tell
        self.loans = {}

    def lend(self, member: Member, words: str):
        book = self.catalogue.find(words)
        held = self.loans.setdefault(member.name, [])
        if len(held) >= member.limit():
            raise LimitReached(member.name)
        held.append(book)
        self.tell(member, book)
        return book

    def take_back(self, member: Member, words: str):
        book = self.catalogue.find(words)
        self.loans[member.name].remove(book)
        return book


def open_desk(catalogue, loud=False):
    return Desk(catalogue, notices.printed if loud else notices.silent)

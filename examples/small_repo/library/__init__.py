"""A lending library; what others need is here."""

from library.books import Book, Catalogue
from library.loans import Desk
from library.members import Member

__all__ = ["Book", "Catalogue", "Desk", "Member"]

import pytest

from library import Book, Catalogue, Member
from library.loans import LimitReached, open_desk


@pytest.fixture
def desk():
    catalogue = Catalogue()
    for title in "ABCD":
        catalogue.add(Book(title, "somebody"))
    return open_desk(catalogue)


def test_a_member_gets_three_books(desk):
    member = Member("Dorothea")
    for title in "ABC":
        desk.lend(member, title)
    with pytest.raises(LimitReached):
        desk.lend(member, "D")

from library import Book, Catalogue


def test_a_title_is_found_whatever_its_letters():
    catalogue = Catalogue()
    book = catalogue.add(Book("Middlemarch", "George Eliot"))
    assert catalogue.find("  middlemarch ") is book

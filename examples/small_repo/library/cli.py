"""The command line: `list`, `add TITLE AUTHOR` and `find WORDS`."""

import sys

from library import Book, store


def show(catalogue, words):
    for book in catalogue:
        print(book.title, "by", book.author)


def add(catalogue, words):
    title, author = words
    catalogue.add(Book(title, author))
    store.save(catalogue, store.default_path())


def find(catalogue, words):
    print(catalogue.find(" ".join(words)).title)


COMMANDS = {"list": show, "add": add, "find": find}


def main(arguments=None):
    name, *words = arguments if arguments is not None else sys.argv[1:]
    catalogue = store.load(store.default_path())
    COMMANDS[name](catalogue, words)


if __name__ == "__main__":
    main()

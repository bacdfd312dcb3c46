"""People who borrow."""

from abc import ABC, abstractmethod


class Person(ABC):
    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def limit(self) -> int: ...

    def greeting(self) -> str:
        return f"Dear {self.name}"


class Member(Person):
    def limit(self) -> int:
        return 3


class Patron(Member):
    """Somebody who gives and may take more."""

    def limit(self) -> int:
        return super().limit() * 2

    def greeting(self) -> str:
        return super().greeting() + ", with thanks"

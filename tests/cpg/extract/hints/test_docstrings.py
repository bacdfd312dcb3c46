"""Types in docstrings: one example per style, and words that are no types."""

from __future__ import annotations

import inspect

import pytest

from headwater.cpg.extract.hints.docstrings import docstring_types, spoken_type

SPHINX = """
    Do it.

    :param int count: how often
    :param name: a name
    :type name: str or None
    :type rest: :class:`~shop.Item`
    :param untyped: nothing of it
    :returns: the names
    :rtype: list of str
"""
GOOGLE = """Do it.

    Args:
        count (int): how often,
            and (str): no parameter
        name (str, optional): a name
        *rest (shop.Item): others
        untyped: nothing of it

    Returns:
        dict[str, int]: what was found

    Raises:
        late (ValueError): is none
"""
NUMPY = """Do it.

    Parameters
    ----------
    count : int
        How often.
    low, high : float, default 0.0
    kind : {'a', 'b'}
    text
        Nothing of it.

    Returns
    -------
    found : bool
        Whether.

    See Also
    --------
    other : str
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            SPHINX,
            {"count": "int", "name": "str | None", "rest": "shop.Item", "": "list[str]"},
        ),
        (GOOGLE, {"count": "int", "name": "str", "rest": "shop.Item", "": "dict[str, int]"}),
        (
            NUMPY,
            {"count": "int", "low": "float", "high": "float", "kind": "Literal['a', 'b']", "": "bool"},
        ),
        ("Parameters are not given here.", {}),
        ("Args: in one line", {}),
        (":param x: with (int) in it\n:type y:", {}),
    ],
)
def test_each_style_tells_types(text: str, found: dict[str, str]) -> None:
    assert dict(docstring_types(text)) == found
    assert dict(docstring_types(inspect.cleandoc(text))) == found


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("int", "int"),
        ("string", "str"),
        ("integer or None", "int | None"),
        ("int, str, or bytes", "int | str | bytes"),
        ("int | None", "int | None"),
        ("tuple of ints", "tuple[int, ...]"),
        ("A list of shop.Item", "list[shop.Item]"),
        ("iterable of str", "collections.abc.Iterable[str]"),
        ("Dict[str, List[int]]", "Dict[str, List[int]]"),
        ("callable", "Callable"),
        ("``str``, optional", "str"),
        ("int (optional)", "int"),
        ("the name of the thing", None),
        ("True if it was found, False otherwise", None),
        ("int or so it seems", None),
        ("f(x)", None),
        ("", None),
        ("x" * 300, None),
    ],
)
def test_words_are_types_only_where_they_are_put_so(said: str, told: str | None) -> None:
    assert spoken_type(said) == told


def test_the_first_that_is_said_of_a_parameter_counts() -> None:
    assert docstring_types(":type x: int\n:type x: str") == [("x", "int")]

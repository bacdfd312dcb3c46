"""Canonical types: the text of a type reads as the type again, and one type has one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cpg.resolve.canonical import ALIASES, NONE, Type, parse_type, quoted_name, union_of

NAMES = st.sampled_from(
    [
        "int",
        "str",
        "a.B",
        "a.C(+1)",
        "`0001_x.M`",
        "~m.T",
        "None",
        "Any",
        "Unknown",
        "Unknown[x.Y]",
        "module[a.b]",
    ]
)
LITERALS = st.lists(st.sampled_from(["1", "-1", "'a, b]'", "b'c'", "True", "None", "e.E.A"]), min_size=1)


def _around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=3).map(", ".join)
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map(" | ".join),
        st.builds("{}[{}]".format, st.sampled_from(["list", "a.G", "type", "tuple", "typing.List"]), several),
        st.builds("tuple[{}, ...]".format, inner),
        st.builds("typing.Optional[{}]".format, inner),
        st.builds("typing.Union[{}]".format, several),
        st.builds("typing.Annotated[{}]".format, inner),
        st.builds("Callable[[{}], {}]".format, several, inner),
        st.builds("Callable[..., {}]".format, inner),
        st.builds("Callable[~m.P, {}]".format, inner),
        st.builds("Callable[typing.Concatenate[{}, ~m.P], {}]".format, inner, inner),
        st.builds("tuple[int, *{}]".format, st.sampled_from(["~m.Ts", "tuple[int, ...]"])),
    )


TEXTS = st.recursive(
    st.one_of(NAMES, LITERALS.map(lambda some: f"Literal[{', '.join(some)}]")), _around, max_leaves=12
)


def parts(type_: Type) -> list[Type]:
    return [type_, *(inner for each in type_.args for inner in parts(each))]


@given(TEXTS)
def test_the_text_of_a_type_reads_as_the_type_again(text: str) -> None:
    for one in parts(parse_type(text)):
        again = parse_type(one.text)
        assert (again.text, again.form, again.name, again.told) == (one.text, one.form, one.name, one.told)
        assert [each.text for each in again.args] == [each.text for each in one.args]


@given(st.lists(TEXTS, min_size=1, max_size=5).flatmap(lambda some: st.permutations([*some, *some])))
def test_a_union_is_flat_and_sorted_whatever_its_members_are(texts: list[str]) -> None:
    members = [parse_type(each) for each in texts]
    made = union_of(members)
    assert union_of(members[::-1]) == made
    assert union_of(dict.fromkeys(members)) == made
    assert union_of([made, *members]) == made
    assert union_of([union_of(members[:2]), union_of(members)]) == made
    if made.form == "union":
        texts = [each.text for each in made.args]
        assert not any(each.form == "union" for each in made.args)
        assert texts == sorted(set(texts) - {"None"}) + (["None"] if "None" in texts else [])
        assert sum(each.form == "literal" for each in made.args) <= 1


@given(TEXTS)
def test_optional_is_a_union_with_none(text: str) -> None:
    optional = parse_type(f"typing.Optional[{text}]")
    assert optional == parse_type(f"{text} | None") == union_of([parse_type(text), NONE])
    assert optional == parse_type(f"typing.Union[None, {text}]")


@pytest.mark.parametrize(
    ("text", "canonical", "form"),
    [
        ("int", "int", "class"),
        ("typing.List[int]", "list[int]", "generic"),
        ("typing.Tuple[int, ...]", "tuple[int, ...]", "tuple"),
        ("tuple", "tuple", "class"),
        ("tuple[()]", "tuple[()]", "tuple"),
        ("typing.Iterable[str]", "collections.abc.Iterable[str]", "generic"),
        ("typing.Type[a.B]", "type[a.B]", "generic"),
        ("str | None | int | str", "int | str | None", "union"),
        ("typing.Union[int]", "int", "class"),
        ("Literal['b', 'a']", "Literal['a', 'b']", "literal"),
        ("typing.Literal[1] | Literal[2]", "Literal[1, 2]", "literal"),
        ("Literal[None]", "None", "none"),
        ("Literal['a', None]", "Literal['a'] | None", "union"),
        ("typing.Callable", "Callable", "callable"),
        ("collections.abc.Callable[[], None]", "Callable[[], None]", "callable"),
        ("typing.Callable[~m.P, int]", "Callable[[**~m.P], int]", "callable"),
        ("Callable[typing.Concatenate[int, ~m.P], int]", "Callable[[int, **~m.P], int]", "callable"),
        ("typing.ClassVar[int]", "int", "class"),
        ("typing.Final", "Unknown", "unknown"),
        ("typing.TypeGuard[int]", "bool", "class"),
        ("typing.NoReturn", "typing.Never", "class"),
        ("typing.AnyStr", "~typing.AnyStr", "typevar"),
        ("typing.Any", "Any", "any"),
        ("*int", "tuple[int, ...]", "tuple"),
        ("**int", "dict[str, int]", "generic"),
        ("tuple[int, typing.Unpack[~m.Ts]]", "tuple[int, *~m.Ts]", "tuple"),
        ("module[a.b]", "module[a.b]", "module"),
        ("a.G[[int, str]]", "a.G[[int, str]]", "generic"),
        ("'x'", "Unknown", "unknown"),
    ],
)
def test_each_way_to_write_a_type_has_one_form(text: str, canonical: str, form: str) -> None:
    made = parse_type(text)
    assert (made.text, made.form) == (canonical, form)


def test_arguments_of_a_callable_are_its_parameters_and_what_it_returns() -> None:
    assert parse_type("Callable[[int, str], None]").told == ("int", "str", "None")
    assert parse_type("Callable[..., int]").told == ("...", "int")


def test_an_alias_stands_for_what_is_none() -> None:
    assert not [name for name, other in ALIASES.items() if other in ALIASES]


@given(st.text(min_size=1))
def test_any_name_can_be_quoted(name: str) -> None:
    made = parse_type(f"list[{quoted_name(f'{name}.C')}]")
    assert made.args[0].name == quoted_name(f"{name}.C")

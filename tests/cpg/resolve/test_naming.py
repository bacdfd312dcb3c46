"""What names in types mean; and Python itself as the judge of what annotations say."""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import sys
import types
import typing
from pathlib import Path
from typing import Any, cast

import pytest
from type_sample import typed, types_by

FOO = "class Foo:\n class Inner: ...\n"


@pytest.mark.parametrize(
    ("files", "annotated"),
    [
        ({"main.py": FOO + "x: Foo"}, "main.Foo"),
        ({"main.py": FOO + "x: 'Foo'"}, "main.Foo"),
        ({"main.py": FOO + "x: Foo.Inner"}, "main.Foo.Inner"),
        ({"main.py": "from m import Foo\nx: Foo", "m.py": FOO}, "m.Foo"),
        ({"main.py": "import m\nx: m.Foo.Inner", "m.py": FOO}, "m.Foo.Inner"),
        ({"main.py": "import p.m as q\nx: 'q.Foo'", "p/m.py": FOO}, "p.m.Foo"),
        ({"main.py": "from p import m\nx: m.Foo", "p/m.py": FOO}, "p.m.Foo"),
        (
            {"main.py": "from p import Foo\nx: Foo", "p/__init__.py": "from .m import Foo", "p/m.py": FOO},
            "p.m.Foo",
        ),
        ({"main.py": "from m import *\nx: Foo", "m.py": FOO}, "m.Foo"),
        (
            {
                "main.py": "import typing as t\nif t.TYPE_CHECKING:\n from m import Foo\nx: 'Foo'",
                "m.py": FOO,
            },
            "m.Foo",
        ),
        ({"main.py": "import datetime as d\nx: d.datetime"}, "datetime.datetime"),
        ({"main.py": "from a.b import C\nx: list[C]"}, "list[a.b.C]"),
        ({"main.py": "import typing as t\nx: t.Optional[t.List[int]]"}, "list[int] | None"),
        ({"main.py": "from typing_extensions import Literal\nx: Literal['a']"}, "Literal['a']"),
        ({"main.py": "x: Nowhere"}, "Unknown[Nowhere]"),
        ({"main.py": "x: list[callable]"}, "list[Callable]"),
        ({"main.py": "import m\nx: m.Nowhere", "m.py": FOO}, "Unknown[m.Nowhere]"),
        ({"main.py": "import m\nx: m", "m.py": FOO}, "Unknown[m]"),
        ({"main.py": "class list: ...\nx: list"}, "main.list"),
        ({"main.py": "Foo = 1\nclass Foo: ...\nclass Foo: ...\nx: 'Foo'"}, "main.Foo"),
    ],
)
def test_a_name_in_a_type_is_what_it_is_in_the_file(files: dict[str, str], annotated: str) -> None:
    assert types_by(files, "annotation")["x"] == annotated


@pytest.mark.parametrize(
    ("files", "annotated"),
    [
        ({"main.py": "from typing import Union\nA = Union[int, str]\nx: A"}, "int | str"),
        ({"main.py": "from m import A\nx: list[A]", "m.py": FOO + "A = list[Foo]"}, "list[list[m.Foo]]"),
        (
            {"main.py": "import m\nx: m.A", "m.py": "from n import A", "n.py": "A = dict[str, int]"},
            "dict[str, int]",
        ),
        ({"main.py": "from typing import NewType\nId = NewType('Id', int)\nx: Id"}, "int"),
        ({"main.py": "from typing import TypeVar\nT = TypeVar('T')\nx: list[T]"}, "list[~main.T]"),
        (
            {"main.py": "from m import T\nx: T", "m.py": "from typing import TypeVar\nT = TypeVar('T')"},
            "~m.T",
        ),
        (
            {"main.py": "import enum, typing as t\nclass E(enum.Enum):\n A = 1\nx: t.Literal[E.A]"},
            "Literal[main.E.A]",
        ),
    ],
)
def test_aliases_and_type_variables_are_followed(files: dict[str, str], annotated: str) -> None:
    assert types_by(files, "annotation")["x"] == annotated


JSON = "A: TypeAlias = 'None | str | Sequence[A] | Mapping[str, A]'\n"


@pytest.mark.parametrize(
    ("source", "annotated"),
    [
        ("A: TypeAlias = 'dict[str, A]'\nx: A", "dict[str, Unknown[A]]"),
        ("A: TypeAlias = 'A'\nx: A", "Unknown[A]"),
        (
            f"from collections.abc import Mapping, Sequence\n{JSON}x: A",
            "collections.abc.Mapping[str, Unknown[A]] | collections.abc.Sequence[Unknown[A]] | str | None",
        ),
        ("A: TypeAlias = 'list[B]'\nB: TypeAlias = 'set[A]'\nx: A", "list[Unknown[B]]"),
        ("A: TypeAlias = 'list[B]'\nB: TypeAlias = 'set[A]'\nx: B", "set[Unknown[A]]"),
        ("B: TypeAlias = 'list[B]'\nA: TypeAlias = 'set[B]'\nx: A", "set[list[Unknown[B]]]"),
        ("A: TypeAlias = 'list[('\nx: set[A]", "set[Unknown[A]]"),
    ],
)
def test_an_alias_is_not_told_inside_itself(source: str, annotated: str) -> None:
    assert types_by(f"from typing import TypeAlias\n{source}", "annotation")["x"] == annotated


def test_aliases_that_grow_from_each_other_end_where_they_are_too_large() -> None:
    lines = [f"A{n}: TypeAlias = 'tuple[A{n - 1}, A{n - 1}]'" for n in range(1, 2000)]
    source = "\n".join(["from typing import TypeAlias", "A0: TypeAlias = int", *lines, "x: A3", "y: A1999"])
    found = types_by(source, "annotation")
    assert found["x"].count("int") == 8
    assert "Unknown[A" in found["y"]
    assert len(found["y"]) < 10_000


def test_a_long_chain_of_aliases_is_followed() -> None:
    lines = [f"A{n}: TypeAlias = 'A{n + 1}'" for n in range(3000)]
    source = "\n".join(["from typing import TypeAlias", *lines, "A3000: TypeAlias = int", "x: A0"])
    assert types_by(source, "annotation")["x"] == "int"


def test_self_is_the_class_that_it_stands_in() -> None:
    source = (
        "from typing import Self\nclass C:\n def f(self) -> Self: ...\n def g(self, x: list[Self]): ...\n"
    )
    assert types_by(source, "annotation") == {"C.f": "main.C", "C.g(x)": "list[main.C]"}


def test_types_have_symbols() -> None:
    rows, _ = typed(
        {
            "main.py": "import json, yaml, m\nfrom typing import TypeVar\nT = TypeVar('T')\n"
            "a: m.Foo\nb: list[json.JSONDecoder]\nc: yaml.Loader\nd: T | None\nz = m\n",
            "m.py": FOO,
        }
    )
    assert dict(zip(rows.types.repr, rows.types.origin_symbol, strict=True)) == {
        "None": None,
        "json.JSONDecoder": "headwater python python . json/JSONDecoder#",
        "list[json.JSONDecoder]": "headwater python python . builtins/list.",
        "m.Foo": "headwater python shop 1 m/Foo#",
        "typing.TypeVar": "headwater python python . typing/TypeVar#",
        "module[m]": "headwater python shop 1 m/",
        "yaml.Loader": "headwater python yaml . yaml/Loader#",
        "~main.T": "headwater python shop 1 main/T.",
        "~main.T | None": None,
    }


def test_classes_of_one_name_are_told_apart() -> None:
    source = "class A: ...\ndef f():\n class A: ...\n def g(x: A): ...\nclass A: ...\ndef h(x: A): ..."
    assert set(types_by(source, "annotation").values()) <= {"main.A", "main.f.A", "main.A(+1)"}
    assert types_by(source, "annotation")["f.g(x)"] == "main.f.A"


ORACLE = """
from __future__ import annotations
import collections, datetime, re, typing
import collections.abc as abc
from typing import *
T = TypeVar("T")
P = ParamSpec("P")
Alias = Union[int, "Other", None]
class Other:
    class Inner: ...
class Own(Generic[T]):
    field: ClassVar[int] = 1
    maybe: Optional[Other]
    inner: Other.Inner
    def method(self, a: Own[int], *rest: int, f: bool = False, **k: "Other") -> Dict[str, List[Other]]: ...
    @classmethod
    def make(cls, kind: Type[Other], many: type[Own]) -> Own[T]: ...
def plain(a: int, b: str | None, c: Optional[Union[int, str]], d: Any, e: None, f: object) -> None: ...
def generic(a: list[dict[str, tuple[int, ...]]], b: Tuple[()], c: tuple[int, str]) -> Iterator[T]: ...
def callables(a: Callable[[int, str], bool], b: Callable[..., T], c: Callable[[], None]): ...
def others(a: abc.Callable[[int], int], b: Callable) -> FrozenSet[bytes]: ...
def more(a: Callable[P, T], b: Callable[Concatenate[int, P], T]) -> Callable[P, Awaitable[T]]: ...
def special(a: Literal["x", 1, True], b: Annotated[int, "meta"], c: "Alias", d: NoReturn): ...
def texts(a: Text, b: AnyStr, c: Pattern, d: re.Pattern[str], e: Deque): ...
def outside(a: datetime.datetime, b: collections.OrderedDict[str, int], c: Counter[str]): ...
def protocols(a: Iterable[int], b: abc.Mapping[str, Any], c: ContextManager[int], d: Hashable): ...
"""


# Classes that say they are of another module than the one that they are imported from.
MOVED = {
    "tomllib.TOMLDecodeError": "tomllib._parser.TOMLDecodeError",
    "_io.BufferedReader": "io.BufferedReader",
}


def shown(hint: Any) -> str:  # noqa: C901  one way for each kind of type that Python has
    """The canonical text of what Python says a type is."""
    if hint is None or hint is type(None):
        return "None"
    if hint is Ellipsis:
        return "..."
    if isinstance(hint, list):
        return f"[{', '.join(shown(each) for each in cast('list[Any]', hint))}]"
    if isinstance(hint, typing.TypeVar):
        return f"~{hint.__module__}.{hint.__name__}"
    if isinstance(hint, typing.ParamSpec):
        return f"[**~{hint.__module__}.{hint.__name__}]"
    if hint is Any:
        return "Any"
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Union or origin is types.UnionType:
        parts = sorted(shown(each) for each in args if each is not type(None))
        return " | ".join([*parts, "None"] if type(None) in args else parts)
    if origin is typing.Literal:
        return f"Literal[{', '.join(sorted(repr(each) for each in args))}]"
    if origin is collections.abc.Callable or hint is typing.Callable:
        return f"Callable[{shown(args[0])}, {shown(args[1])}]" if args else "Callable"
    if origin is typing.Concatenate:
        return f"[{', '.join(shown(each) for each in args[:-1])}, {shown(args[-1])[1:]}"
    if origin is None:
        return _named(hint)
    if origin is tuple and not args and "[" in str(hint):
        return "tuple[()]"
    return f"{_named(origin)}[{', '.join(shown(each) for each in args)}]" if args else _named(origin)


def _named(hint: Any) -> str:
    if hint is typing.NoReturn:
        return "typing.Never"
    module, name = hint.__module__, hint.__qualname__
    public = next((each for each, value in vars(types).items() if value is hint), None)
    if public is not None:
        return f"types.{public}"
    return name if module == "builtins" else MOVED.get(f"{module}.{name}", f"{module}.{name}")


def expected(owner: str, function: Any, namespace: dict[str, Any]) -> dict[str, str]:
    """What Python says of the parameters of a function, and of what it returns."""
    try:
        hints = typing.get_type_hints(function, namespace)
    except (NameError, TypeError):  # a name that is there for type checkers alone
        return {}
    found: dict[str, str] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name in hints:
            text = shown(hints[name])
            if parameter.kind is parameter.VAR_POSITIONAL:
                text = f"tuple[{text}, ...]"
            elif parameter.kind is parameter.VAR_KEYWORD:
                text = f"dict[str, {text}]"
            found[f"{owner}({name})"] = text
    if "return" in hints:
        found[owner] = shown(hints["return"])
    return found


def of_module(module: types.ModuleType) -> dict[str, str]:
    """The same for all functions, methods and fields of a module."""
    found: dict[str, str] = {}
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(value) and value.__qualname__ == name:
            found |= expected(name, value, vars(module))
        elif inspect.isclass(value) and value.__qualname__ == name:
            for inner, member in vars(value).items():
                plain = getattr(member, "__func__", member)  # of a class method or static method
                is_written = inspect.isfunction(plain) and plain.__code__.co_filename == module.__file__
                if is_written and plain.__qualname__ == f"{name}.{inner}":
                    found |= expected(f"{name}.{inner}", plain, vars(module))
    return found


def test_annotations_are_what_python_says_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("main")
    module.__file__ = "main.py"
    monkeypatch.setitem(sys.modules, "main", module)
    exec(compile(ORACLE, "main.py", "exec", dont_inherit=True), vars(module))  # noqa: S102  our own sample
    told = types_by(ORACLE, "annotation")
    wanted = of_module(module)
    assert len(wanted) > 40
    assert {name: told.get(name) for name in wanted} == wanted
    assert (told["Own.field"], told["Own.maybe"], told["Own.inner"]) == (
        "int",
        "main.Other | None",
        "main.Other.Inner",
    )


@pytest.mark.parametrize(
    ("package", "least"),
    [("tomllib", 40), ("importlib.metadata", 20), ("importlib.resources", 20), ("wsgiref", 5)],
)
def test_annotations_of_the_library_are_what_python_says(package: str, least: int) -> None:
    folder = Path(str(importlib.import_module(package).__file__)).parent
    top = folder.parents[package.count(".")]
    files = {path.relative_to(top).as_posix(): path for path in sorted(folder.glob("*.py"))}
    above = package.rpartition(".")[0].replace(".", "/")
    sources = {name: path.read_text("utf-8") for name, path in files.items()}
    told = types_by({**({f"{above}/__init__.py": ""} if above else {}), **sources}, "annotation")
    count = 0
    for name in files:
        dotted = name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        wanted = of_module(importlib.import_module(dotted))
        count += len(wanted)
        assert {key: told.get(f"{name}:{key}") for key in wanted} == wanted
    assert count >= least

"""The identity of a Python function: a digest of what it does, wherever its file lies, however it is pickled.

Part of it are the code without its lines, constants, defaults, closures, the globals it uses, and so on
through all functions, classes and modules of the project that it reaches. Installed packages count by their
version, the standard library by the version of Python.
Not here: pickling; the bytes that run are pyspark's.
"""

from __future__ import annotations

import ast
import builtins
import copyreg
import enum
import functools
import sys
import types
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from pyspark.sql.types import DataType

from headwater.digest import Plain, canonical_bytes, digest_of
from headwater.errors import FunctionNotIdentifiable
from headwater.pipeline.modules import (
    Home,
    globals_of_code,
    home_of,
    imports_of_code,
    imports_of_source,
    is_module,
    is_package,
    package_version,
    source_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_PLAIN = (types.NoneType, bool, int, float, str, bytes)
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
# Their objects are values, and say of themselves how they are made (__reduce_ex__).
_VALUE_MODULES = frozenset(
    {
        "collections",
        "datetime",
        "decimal",
        "fractions",
        "ipaddress",
        "logging",
        "numpy",
        "operator",
        "pathlib",
        "pyarrow",
        "re",
        "uuid",
        "zoneinfo",
    }
)
# Of a class: what Python writes itself, or what does not change what it does.
_CLASS_NOISE = frozenset(
    {
        "__abstractmethods__",
        "__annotations__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__match_args__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__qualname__",
        "__slotnames__",  # left behind by pickling
        "__slots__",
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",
    }
)
_UDF_PARTS = ("func", "returnType", "evalType", "deterministic")


def function_digest(function: object) -> str:
    """A sha256 that is equal exactly as long as the function does the same, on every machine.

    Raises:
        FunctionNotIdentifiable: it holds on to something that has no value: a lock, an open file, a client.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    encoder = _Encoder(_name_of(function))
    root = encoder.encode(function)
    return digest_of(["function", version, _settled(root, encoder.nodes)])


@dataclass(frozen=True, slots=True)
class _Node:
    """Stands for a function, class, module or object that may be met again, or may reach itself."""

    number: int


@dataclass(frozen=True, slots=True)
class _Unordered:
    items: tuple[_Encoded, ...]


_Encoded: TypeAlias = "bool | int | float | str | bytes | Sequence[_Encoded] | _Node | _Unordered | None"


def _settled(root: _Encoded, nodes: Sequence[_Encoded]) -> Plain:
    """The graph as a list of trees that refer to each other by place, though nodes may reach each other.

    Nodes start alike and are told apart by what they hold, then by what those hold, and so on until a round
    tells no more of them apart. Nodes that are still alike are one: whether two equal functions are one
    object or two changes when they are pickled, and must not count.
    """
    colours = [""] * len(nodes)
    known = 0
    while len(set(colours)) > known:
        known = len(set(colours))
        colours = [digest_of(_resolved(node, colours, colours.__getitem__)) for node in nodes]
    places: dict[str, int] = {}
    trees: list[_Encoded] = [root]

    def place_of(number: int) -> int:
        if colours[number] not in places:
            places[colours[number]] = len(trees)
            trees.append(nodes[number])
        return places[colours[number]]

    settled: list[Plain] = []
    while len(settled) < len(trees):
        settled.append(_resolved(trees[len(settled)], colours, place_of))
    return settled


def _resolved(encoded: _Encoded, colours: Sequence[str], name: Callable[[int], Plain]) -> Plain:
    match encoded:
        case _Node():
            return ["node", name(encoded.number)]
        case _Unordered():
            by_content = sorted(
                encoded.items,
                key=lambda item: canonical_bytes(_resolved(item, colours, colours.__getitem__)),
            )
            return [_resolved(item, colours, name) for item in by_content]
        case list() | tuple():
            return [_resolved(item, colours, name) for item in encoded]
        case _:
            return cast("Plain", encoded)


class _Encoder:
    """Turns an object graph into values: a tree for the root, and one for each node that a tree refers to."""

    def __init__(self, root: str) -> None:
        self.nodes: list[_Encoded] = []
        self._root = root
        self._numbers: dict[int | str, int] = {}
        self._kept: list[object] = []  # an id is only good while its object lives
        self._open: set[int] = set()

    def encode(self, value: object) -> _Encoded:
        """The tree that stands for `value`."""
        if type(value) in _PLAIN:
            return cast("_Encoded", value)
        container = _CONTAINERS.get(type(value))
        if container is not None:
            return self._contained(value, container)
        for kinds, rule in _RULES:
            if isinstance(value, kinds):
                return rule(self, value)
        return self._instance(value)

    def _contained(self, value: object, rule: _Rule) -> _Encoded:
        if id(value) in self._open:
            raise self._unknown(f"a {type(value).__name__} that contains itself")
        self._open.add(id(value))
        try:
            return rule(self, value)
        finally:
            self._open.discard(id(value))

    def _unknown(self, what: str) -> FunctionNotIdentifiable:
        return FunctionNotIdentifiable(function=self._root, dependency=what)

    def _node(self, key: int | str, value: object, content: Callable[[], _Encoded]) -> _Node:
        if key not in self._numbers:
            number = self._numbers[key] = len(self.nodes)
            self._kept.append(value)
            self.nodes.append(None)
            self.nodes[number] = content()
        return _Node(self._numbers[key])

    def _all(self, values: Iterable[object]) -> list[_Encoded]:
        return [self.encode(value) for value in values]

    def _items(self, mapping: Mapping[object, object]) -> list[_Encoded]:
        return [[self.encode(key), self.encode(value)] for key, value in mapping.items()]

    # --- values ---

    def simple(self, value: object) -> _Encoded:
        return ["repr", type(value).__name__, repr(value)]

    def sequence(self, value: object) -> _Encoded:
        return [type(value).__name__, self._all(cast("Iterable[object]", value))]

    def unordered(self, value: object) -> _Encoded:
        return [type(value).__name__, _Unordered(tuple(self._all(cast("Iterable[object]", value))))]

    def mapping(self, value: object) -> _Encoded:
        # In the order of insertion: a frame made from a dict has its columns in that order.
        return [type(value).__name__, self._items(cast("Mapping[object, object]", value))]

    def byte_array(self, value: object) -> _Encoded:
        return ["bytearray", bytes(cast("bytearray", value))]

    def member(self, value: object) -> _Encoded:
        member = cast("enum.Enum", value)
        return ["member", self.encode(type(member)), member.name]

    def data_type(self, value: object) -> _Encoded:
        return ["type", cast("DataType", value).json()]

    # --- code ---

    def code(self, value: object, doc: object = None) -> _Encoded:
        code = cast("types.CodeType", value)
        constants = list(code.co_consts)
        if constants and isinstance(doc, str) and constants[0] == doc:
            constants[0] = None
        return [
            "code",
            [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags],
            [code.co_code, code.co_exceptiontable],
            self._all(constants),
            [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars],
        ]

    def function(self, value: object) -> _Encoded:
        function = cast("types.FunctionType", value)
        if hasattr(function, "_unwrapped"):
            return self.udf(function)
        if _is_foreign(function):
            return self._named(function.__module__, function.__qualname__)
        return self._node(id(function), function, lambda: self._function(function))

    def _function(self, function: types.FunctionType) -> _Encoded:
        return [
            "function",
            self.code(function.__code__, function.__doc__),
            self.encode(function.__defaults__),
            self.encode(function.__kwdefaults__),
            [self._cell(cell) for cell in function.__closure__ or ()],
            # Of a package the version says it all, also for the functions it makes as it runs.
            self._surroundings(function)
            if home_of(function.__module__) is Home.PROJECT
            else self._named(function.__module__, function.__qualname__),
            self._items({key: part for key, part in vars(function).items() if key != "__wrapped__"}),
        ]

    def _cell(self, cell: types.CellType) -> _Encoded:
        try:
            return ["cell", self.encode(cell.cell_contents)]
        except ValueError:
            return ["empty"]

    def _surroundings(self, function: types.FunctionType) -> _Encoded:
        scope = function.__globals__
        package = cast("str | None", scope.get("__package__"))
        names = sorted(set(globals_of_code(function.__code__)))
        imports = sorted(set(imports_of_code(function.__code__, package)))
        return [
            [[name, self._global(name, scope)] for name in names],
            [self._imported(name, submodule) for name, submodule in imports],
        ]

    def _global(self, name: str, scope: Mapping[str, object]) -> _Encoded:
        if name in scope:
            return self.encode(scope[name])
        return ["builtin" if hasattr(builtins, name) else "missing"]

    def udf(self, value: object) -> _Encoded:
        parts = [cast("object", getattr(value, part)) for part in _UDF_PARTS]
        return ["udf", self._all(parts)]

    def method(self, value: object) -> _Encoded:
        method = cast("types.MethodType", value)
        return ["method", self.encode(method.__func__), self.encode(method.__self__)]

    def builtin(self, value: object) -> _Encoded:
        function = cast("types.BuiltinFunctionType", value)
        owner = cast("object", function.__self__)
        if owner is None or isinstance(owner, types.ModuleType):
            return self._named(cast("str | None", function.__module__) or "builtins", function.__qualname__)
        return ["method", function.__name__, self.encode(owner)]

    def descriptor(self, value: object) -> _Encoded:
        descriptor = cast("types.MethodDescriptorType", value)
        return ["descriptor", self.encode(descriptor.__objclass__), descriptor.__name__]

    def partial(self, value: object) -> _Encoded:
        partial = cast("functools.partial[object]", value)
        return ["partial", self._all((partial.func, partial.args, partial.keywords))]

    def wrapper(self, value: object) -> _Encoded:
        inner = cast("object", getattr(value, "__wrapped__"))  # noqa: B009 - no common type declares it
        return [type(value).__name__, self.encode(inner)]

    def accessors(self, value: object) -> _Encoded:
        accessor = cast("property", value)
        return ["property", self._all((accessor.fget, accessor.fset, accessor.fdel))]

    def cached(self, value: object) -> _Encoded:
        return ["cached_property", self.encode(cast("functools.cached_property[object]", value).func)]

    # --- classes ---

    def class_(self, value: object) -> _Encoded:
        cls = cast("type", value)
        if _is_foreign(cls):
            return self._named(cls.__module__, cls.__qualname__)
        return self._node(id(cls), cls, lambda: self._class(cls))

    def _class(self, cls: type) -> _Encoded:
        return [
            "class",
            self._all((type(cls), *cls.__bases__)),
            [[field.name, str(field.type), *self._defaults(field)] for field in _fields_of(cls)],
            self._members(cls),
        ]

    def _defaults(self, field: Field[object]) -> Iterator[_Encoded]:
        for default in (field.default, field.default_factory):
            yield ["missing"] if default is MISSING else self.encode(default)

    def _members(self, cls: type) -> list[_Encoded]:
        members: list[tuple[str, object]] = sorted(vars(cls).items())
        if issubclass(cls, enum.Enum):
            # The rest of an enumeration's namespace is Python's own bookkeeping.
            functions = [(name, member) for name, member in members if isinstance(member, types.FunctionType)]
            values = [(name, cast("object", member.value)) for name, member in cls.__members__.items()]
            return [[name, self.encode(member)] for name, member in [*values, *functions]]
        return [
            [name, self._class_member(member)]
            for name, member in members
            if name not in _CLASS_NOISE and not _is_generated(member)
        ]

    def _class_member(self, member: object) -> _Encoded:
        # A slot, or a field of a named tuple: its name is all there is to it.
        if isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType)):
            return ["slot"]
        if type(member).__name__ == "_tuplegetter":
            return ["slot"]
        return self.encode(member)

    # --- modules ---

    def module(self, value: object) -> _Encoded:
        return self._module(cast("types.ModuleType", value).__name__)

    def _module(self, name: str) -> _Encoded:
        home = home_of(name)
        if home is not Home.PROJECT:
            return self._named(name, "")
        return self._node(f"module {name}", name, lambda: self._project_module(name))

    def _project_module(self, name: str) -> _Encoded:
        tree = self._source_of(name)
        package = name if is_package(name) else name.rpartition(".")[0]
        imports = sorted(set(imports_of_source(tree, package)))
        return [
            "module",
            name,
            ast.dump(tree, annotate_fields=False),
            [self._imported(imported, submodule) for imported, submodule in imports],
        ]

    def _imported(self, name: str, submodule: str) -> _Encoded:
        """What `import name` or `from name import submodule` brings in; the latter may be no module."""
        candidates = (name, f"{name}.{submodule}") if submodule else (name,)
        return [name, submodule, [self._module(each) for each in candidates if is_module(each)]]

    def _source_of(self, name: str) -> ast.Module:
        source = source_of(name)
        if source is None:
            raise self._unknown(f"the module {name}, whose source is not there")
        return ast.parse(source)

    def _named(self, module: str, name: str) -> _Encoded:
        version = package_version(module) if home_of(module) is Home.INSTALLED else ""
        return ["named", module, name, version]

    # --- everything else ---

    def _instance(self, value: object) -> _Encoded:
        kind = type(value)
        if all(hasattr(value, part) for part in _UDF_PARTS):
            return self.udf(value)
        if kind.__module__ == "typing":
            return self.simple(value)
        if kind.__name__ == "ufunc":
            return self._named("numpy", cast("str", getattr(value, "__name__")))  # noqa: B009 - numpy is untyped here
        if callable(value) and _is_foreign(value):
            named = cast("types.FunctionType", value)  # or what an extension has instead of functions
            return self._named(named.__module__, named.__qualname__)
        if kind.__module__.partition(".")[0] in _VALUE_MODULES:
            return self._reduced(value)
        return self._state(value)

    def _reduced(self, value: object) -> _Encoded:
        reduce = copyreg.dispatch_table.get(type(value), _reduce)
        try:
            made = reduce(value)
        except TypeError:
            raise self._unknown(_description_of(value)) from None
        if isinstance(made, str):
            return ["global", type(value).__module__, made]
        callable_, arguments, state, listed, keyed = (*made, None, None, None)[:5]
        return [
            "reduced",
            self._all((callable_, arguments, state)),
            self._all(cast("Iterable[object]", listed or ())),
            self._all(cast("Iterable[object]", keyed or ())),
        ]

    def _state(self, value: object) -> _Encoded:
        """An object of a class of the project, or of a subclass of a plain container: class and content."""
        kind = type(value)
        content = _container_of(value)
        if home_of(kind.__module__) is not Home.PROJECT and content is None:
            raise self._unknown(_description_of(value))
        return self._node(id(value), value, lambda: self._object(value, content))

    def _object(self, value: object, content: object) -> _Encoded:
        state = cast("dict[object, object]", {**getattr(value, "__dict__", {}), **_slots_of(value)})
        return ["object", self.encode(type(value)), self.encode(content), self._items(state)]


_Rule: TypeAlias = "Callable[[_Encoder, object], _Encoded]"
_RULES: Sequence[tuple[tuple[type, ...], _Rule]] = (
    ((enum.Enum,), _Encoder.member),
    ((DataType,), _Encoder.data_type),
    ((types.CodeType,), _Encoder.code),
    ((types.FunctionType,), _Encoder.function),
    ((types.MethodType,), _Encoder.method),
    ((types.BuiltinFunctionType,), _Encoder.builtin),
    (_DESCRIPTORS, _Encoder.descriptor),
    ((functools.partial,), _Encoder.partial),
    ((functools._lru_cache_wrapper, staticmethod, classmethod), _Encoder.wrapper),
    ((property,), _Encoder.accessors),
    ((functools.cached_property,), _Encoder.cached),
    ((types.ModuleType,), _Encoder.module),
    ((types.GenericAlias, cast("type", types.UnionType)), _Encoder.simple),
    ((type,), _Encoder.class_),
    ((complex, range, slice, types.EllipsisType, types.NotImplementedType), _Encoder.simple),
    ((bytearray,), _Encoder.byte_array),
    ((types.MappingProxyType,), _Encoder.mapping),
)
_CONTAINERS: Mapping[type, _Rule] = {
    tuple: _Encoder.sequence,
    list: _Encoder.sequence,
    set: _Encoder.unordered,
    frozenset: _Encoder.unordered,
    dict: _Encoder.mapping,
}


def _name_of(function: object) -> str:
    name = cast("str | None", getattr(function, "__qualname__", None))
    return name or type(function).__qualname__


def _reduce(value: object) -> str | tuple[object, ...]:
    return value.__reduce_ex__(4)


def _description_of(value: object) -> str:
    kind = type(value)
    return f"an object of {kind.__module__}.{kind.__qualname__}"


def _is_foreign(value: object) -> bool:
    """Whether a function or class can be imported by its name, and from elsewhere than the project."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or home_of(module) is Home.PROJECT:
        return False
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


def _fields_of(cls: type) -> Sequence[Field[object]]:
    return fields(cls) if is_dataclass(cls) else ()


def _is_generated(member: object) -> bool:
    """Whether a method was written by dataclass or namedtuple: the fields say it all."""
    code = getattr(member, "__code__", None)
    return isinstance(code, types.CodeType) and code.co_filename.startswith("<")


def _container_of(value: object) -> object:
    """The content of an object whose class extends a plain one, as that plain one."""
    for plain in (*_CONTAINERS, *_PLAIN[2:]):
        if isinstance(value, plain):
            return plain(value)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return None


def _slots_of(value: object) -> Mapping[str, object]:
    names = [
        name
        for cls in type(value).__mro__
        for name, member in sorted(vars(cls).items())
        if isinstance(member, types.MemberDescriptorType)
    ]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}

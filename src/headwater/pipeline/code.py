"""The identity of a Python function: a digest of what it does, wherever its file lies, however it is pickled.

Part of it are the code without its lines, constants, defaults, closures, the globals it uses, and so on
through all functions, classes and modules of the project that it reaches. Installed packages count by their
version, the standard library by the version of Python.
Not here: pickling; the bytes that run are pyspark's.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import sys
import types
from typing import TYPE_CHECKING, TypeAlias, cast

from pyspark.sql.types import DataType

from headwater.digest import digest_of
from headwater.errors import FunctionNotIdentifiable, NotInAView
from headwater.pipeline.instances import (
    content_of,
    description_of,
    fields_of,
    is_value,
    members_of,
    name_of,
    reduction_of,
    state_of,
)
from headwater.pipeline.modules import (
    Home,
    globals_of_code,
    home_of,
    imports_of_code,
    imports_of_source,
    is_below_root,
    is_foreign,
    is_module,
    is_package,
    modules_imported_by,
    package_version,
    source_of,
)
from headwater.pipeline.object_graph import Encoded, Node, Unordered, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_PLAIN = (types.NoneType, bool, int, float, str, bytes)
_DESCRIPTORS = (
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_UDF_PARTS = ("func", "returnType", "evalType", "deterministic")


def function_digest(function: object) -> str:
    """A sha256 that is equal exactly as long as the function does the same, on every machine.

    Raises:
        FunctionNotIdentifiable: it holds on to something that has no value: a lock, an open file, a client.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    encoder = _Encoder(name_of(function))
    root = encoder.encode(function)
    encoder.complete_modules()
    return digest_of(["function", version, settled(root, encoder.nodes)])


class _Encoder:
    """Turns an object graph into values: a tree for the root, and one for each node that a tree refers to."""

    def __init__(self, root: str) -> None:
        self.nodes: list[Encoded] = []
        self._root = root
        self._numbers: dict[int | str, int] = {}
        self._kept: list[object] = []  # an id is only good while its object lives
        self._open: set[int] = set()
        self._loaded: set[str] = set()  # names that code met so far may load from a module
        self._modules: dict[int, tuple[types.ModuleType, dict[str, Encoded]]] = {}

    def encode(self, value: object) -> Encoded:
        """The tree that stands for `value`."""
        if type(value) in _PLAIN:
            return cast("Encoded", value)
        container = _CONTAINERS.get(type(value))
        if container is not None:
            return self._contained(value, container)
        for kinds, rule in _RULES:
            if isinstance(value, kinds):
                return rule(self, value)
        return self._instance(value)

    def _contained(self, value: object, rule: _Rule) -> Encoded:
        if id(value) in self._open:
            raise self._unknown(f"a {type(value).__name__} that contains itself")
        self._open.add(id(value))
        try:
            return rule(self, value)
        finally:
            self._open.discard(id(value))

    def _unknown(self, what: str) -> FunctionNotIdentifiable:
        return FunctionNotIdentifiable(function=self._root, dependency=what)

    def _node(self, key: int | str, value: object, content: Callable[[], Encoded]) -> Node:
        if key not in self._numbers:
            number = self._numbers[key] = len(self.nodes)
            self._kept.append(value)
            self.nodes.append(None)
            self.nodes[number] = content()
        return Node(self._numbers[key])

    def _all(self, values: Iterable[object]) -> list[Encoded]:
        return [self.encode(value) for value in values]

    def _items(self, mapping: Mapping[object, object]) -> list[Encoded]:
        return [[self.encode(key), self.encode(value)] for key, value in mapping.items()]

    # --- values ---

    def simple(self, value: object) -> Encoded:
        return ["repr", type(value).__name__, repr(value)]

    def sequence(self, value: object) -> Encoded:
        return [type(value).__name__, self._all(cast("Iterable[object]", value))]

    def unordered(self, value: object) -> Encoded:
        return [type(value).__name__, Unordered(tuple(self._all(cast("Iterable[object]", value))))]

    def mapping(self, value: object) -> Encoded:
        # In the order of insertion: a frame made from a dict has its columns in that order.
        return [type(value).__name__, self._items(cast("Mapping[object, object]", value))]

    def byte_array(self, value: object) -> Encoded:
        return ["bytearray", bytes(cast("bytearray", value))]

    def member(self, value: object) -> Encoded:
        member = cast("enum.Enum", value)
        return ["member", self.encode(type(member)), member.name]

    def data_type(self, value: object) -> Encoded:
        return ["type", cast("DataType", value).json()]

    # --- code ---

    def code(self, value: object, doc: object = None) -> Encoded:
        code = cast("types.CodeType", value)
        constants = list(code.co_consts)
        if constants and isinstance(doc, str) and constants[0] == doc:
            constants[0] = None
        texts = (each for each in constants if isinstance(each, str))
        self._loaded.update(code.co_names, texts)  # a text may be given to getattr
        return [
            "code",
            [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags],
            [code.co_code, code.co_exceptiontable],
            self._all(constants),
            [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars],
        ]

    def function(self, value: object) -> Encoded:
        function = cast("types.FunctionType", value)
        if hasattr(function, "_unwrapped"):
            return self.udf(function)
        if is_foreign(function):
            return self._named(function.__module__, function.__qualname__)
        return self._node(id(function), function, lambda: self._function(function))

    def _function(self, function: types.FunctionType) -> Encoded:
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

    def _cell(self, cell: types.CellType) -> Encoded:
        try:
            content = cast("object", cell.cell_contents)
        except ValueError:
            return ["empty"]
        return ["cell", self.encode(content)]

    def _surroundings(self, function: types.FunctionType) -> Encoded:
        scope = function.__globals__
        package = cast("str | None", scope.get("__package__"))
        names = sorted(set(globals_of_code(function.__code__)))
        imports = sorted(set(imports_of_code(function.__code__, package)))
        for name, submodule in imports:
            if any(is_below_root(each) for each in modules_imported_by(name, submodule)):
                # The worker that runs the import has not got the project's folder.
                member = f"'import {name}' inside the Python function {function.__qualname__}"
                raise NotInAView(member=member, remedy="Import it at the top of the file.")
        return [
            [[name, self._global(name, scope)] for name in names],
            [self._imported(name, submodule) for name, submodule in imports],
        ]

    def _global(self, name: str, scope: Mapping[str, object]) -> Encoded:
        if name in scope:
            return self.encode(scope[name])
        return ["builtin" if hasattr(builtins, name) else "missing"]

    def udf(self, value: object) -> Encoded:
        parts = [cast("object", getattr(value, part)) for part in _UDF_PARTS]
        return ["udf", self._all(parts)]

    def method(self, value: object) -> Encoded:
        method = cast("types.MethodType", value)
        return ["method", self.encode(method.__func__), self.encode(method.__self__)]

    def builtin(self, value: object) -> Encoded:
        function = cast("types.BuiltinFunctionType", value)
        owner = cast("object", function.__self__)
        if owner is None or isinstance(owner, types.ModuleType):
            return self._named(cast("str | None", function.__module__) or "builtins", function.__qualname__)
        return ["method", function.__name__, self.encode(owner)]

    def descriptor(self, value: object) -> Encoded:
        descriptor = cast("types.MethodDescriptorType", value)
        return ["descriptor", self.encode(descriptor.__objclass__), descriptor.__name__]

    def partial(self, value: object) -> Encoded:
        partial = cast("functools.partial[object]", value)
        return ["partial", self._all((partial.func, partial.args, partial.keywords))]

    def wrapper(self, value: object) -> Encoded:
        inner = cast("object", getattr(value, "__wrapped__"))  # noqa: B009 - no common type declares it
        return [type(value).__name__, self.encode(inner)]

    def accessors(self, value: object) -> Encoded:
        accessor = cast("property", value)
        return ["property", self._all((accessor.fget, accessor.fset, accessor.fdel))]

    def cached(self, value: object) -> Encoded:
        return ["cached_property", self.encode(cast("functools.cached_property[object]", value).func)]

    # --- classes ---

    def class_(self, value: object) -> Encoded:
        cls = cast("type", value)
        if is_foreign(cls):
            return self._named(cls.__module__, cls.__qualname__)
        return self._node(id(cls), cls, lambda: self._class(cls))

    def _class(self, cls: type) -> Encoded:
        return [
            "class",
            self._all((type(cls), *cls.__bases__)),
            [[name, kind, self._all(defaults)] for name, kind, defaults in fields_of(cls)],
            [[name, self.encode(member)] for name, member in members_of(cls)],
        ]

    # --- modules ---

    def module(self, value: object) -> Encoded:
        module = cast("types.ModuleType", value)
        return self._module(module.__name__, module)

    def _module(self, name: str, module: types.ModuleType | None = None) -> Encoded:
        # Views import this package; which one that is, is for its version to say, wherever its files are.
        if home_of(name) is not Home.PROJECT:
            return self._named(name, "")
        node = self._node(f"module {name}", name, lambda: self._project_module(name))
        found = module or sys.modules.get(name)
        if found is not None:
            self._modules.setdefault(node.number, (found, {}))
        return node

    def complete_modules(self) -> None:
        """Adds, to each module of the project, what the code can load from it: its source may not show that.

        `RATES = json.loads(Path("rates.json").read_text())` stays the same text when the file changes.
        """
        known: tuple[int, int] | None = None
        while known != (len(self._loaded), len(self._modules)):
            known = (len(self._loaded), len(self._modules))
            for module, parts in tuple(self._modules.values()):
                for name in sorted(self._loaded & vars(module).keys() - parts.keys()):
                    if not name.startswith("__"):
                        parts[name] = self._attribute(module, name)
        for number, (_, parts) in self._modules.items():
            self.nodes[number] = [self.nodes[number], [[name, parts[name]] for name in sorted(parts)]]

    def _attribute(self, module: types.ModuleType, name: str) -> Encoded:
        try:
            return self.encode(vars(module)[name])
        except FunctionNotIdentifiable as error:
            raise self._unknown(f"{module.__name__}.{name}, {error.dependency}") from None

    def _project_module(self, name: str) -> Encoded:
        tree = self._source_of(name)
        package = name if is_package(name) else name.rpartition(".")[0]
        imports = sorted(set(imports_of_source(tree, package)))
        return [
            "module",
            name,
            ast.dump(tree, annotate_fields=False),
            [self._imported(imported, submodule) for imported, submodule in imports],
        ]

    def _imported(self, name: str, submodule: str) -> Encoded:
        """What `import name` or `from name import submodule` brings in; the latter may be no module."""
        found = [self._module(each) for each in modules_imported_by(name, submodule) if is_module(each)]
        return [name, submodule, found]

    def _source_of(self, name: str) -> ast.Module:
        source = source_of(name)
        if source is None:
            raise self._unknown(f"the module {name}, whose source is not there")
        return ast.parse(source)

    def _named(self, module: str, name: str) -> Encoded:
        version = "" if home_of(module) is Home.STANDARD else package_version(module)
        return ["named", module, name, version]

    # --- everything else ---

    def _instance(self, value: object) -> Encoded:
        kind = type(value)
        if all(hasattr(value, part) for part in _UDF_PARTS):
            return self.udf(value)
        if kind.__module__ == "typing":
            return self.simple(value)
        if callable(value) and is_foreign(value):
            named = cast("types.FunctionType", value)  # or what an extension has instead of functions
            return self._named(named.__module__, named.__qualname__)
        if is_value(value):
            return self._reduced(value)
        return self._state(value)

    def _reduced(self, value: object) -> Encoded:
        made = reduction_of(value)
        if made is None:
            raise self._unknown(description_of(value))
        callable_, arguments, state, listed, keyed = made
        return [
            "reduced",
            self._all((callable_, arguments, state)),
            self._all(cast("Iterable[object]", listed or ())),
            self._all(cast("Iterable[object]", keyed or ())),
        ]

    def _state(self, value: object) -> Encoded:
        """An object of a class of the project, or of a subclass of a plain container: class and content."""
        kind = type(value)
        content = content_of(value)
        if home_of(kind.__module__) is not Home.PROJECT and content is None:
            raise self._unknown(description_of(value))
        return self._node(id(value), value, lambda: self._object(value, content))

    def _object(self, value: object, content: object) -> Encoded:
        state = [[name, self.encode(part)] for name, part in state_of(value).items()]
        return ["object", self.encode(type(value)), self.encode(content), state]


_Rule: TypeAlias = "Callable[[_Encoder, object], Encoded]"
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

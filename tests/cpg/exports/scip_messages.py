"""The messages of SCIP as protobuf knows them: an index is read by something else than its writer."""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# By message its fields: number, name, type; a capital is a message, * is repeated.
_SCHEMA = {
    "Index": "1 metadata Metadata, 2 documents *Document, 3 external_symbols *SymbolInformation",
    "Metadata": "1 version int32, 2 tool_info ToolInfo, 3 project_root string, "
    "4 text_document_encoding int32",
    "ToolInfo": "1 name string, 2 version string, 3 arguments *string",
    "Document": "1 relative_path string, 2 occurrences *Occurrence, 3 symbols *SymbolInformation, "
    "4 language string, 5 text string, 6 position_encoding int32",
    "Occurrence": "1 range *int32, 2 symbol string, 3 symbol_roles int32",
    "SymbolInformation": "1 symbol string, 3 documentation *string, 4 relationships *Relationship, "
    "5 kind int32, 6 display_name string",
    "Relationship": "1 symbol string, 2 is_reference bool, 3 is_implementation bool",
}
_TYPES = {
    "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
    "bool": descriptor_pb2.FieldDescriptorProto.TYPE_BOOL,
}


def _index_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="scip.proto", package="scip", syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for each in fields.split(", "):
            number, field, kind = each.split()
            bare = kind.lstrip("*")
            added = message.field.add(name=field, number=int(number))
            added.label = added.LABEL_REPEATED if kind != bare else added.LABEL_OPTIONAL
            added.type = _TYPES.get(bare, added.TYPE_MESSAGE)
            if bare not in _TYPES:
                added.type_name = f".scip.{bare}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("scip.Index"))


def read_index(content: bytes) -> Any:
    """The index; nothing in it is unknown to the schema."""
    index = _index_class().FromString(content)
    assert index.SerializeToString(deterministic=True) == content, "fields in another order, or unknown ones"
    return index


def slices_of(document: Any, content: bytes) -> list[tuple[str, int, str]]:
    """The text of each occurrence, its roles and its symbol; its range lies in its file."""
    lines = content.splitlines(keepends=True) or [b""]
    found: list[tuple[str, int, str]] = []
    for each in document.occurrences:
        first, start, *last, end = each.range
        assert not last, "names stand on one line"
        line: bytes = lines[int(first)]
        assert 0 <= start <= end <= len(line)
        found.append((line[start:end].decode(), each.symbol_roles, each.symbol))
    return found


def complaints_of(index: Any) -> list[str]:
    """What `scip lint` complains of: symbols without information, twice, or that relate to nobody."""
    complaints: list[str] = []
    external = [each.symbol for each in index.external_symbols]
    own = {each.symbol for document in index.documents for each in document.symbols}
    complaints += [f"{each} is twice" for each in external if external.count(each) > 1]
    complaints += [f"{each} is here and outside" for each in external if each in own]
    for document in index.documents:
        told = [each.symbol for each in document.symbols]
        places = [(tuple(each.range), each.symbol) for each in document.occurrences]
        complaints += [f"{each} is twice" for each in told if told.count(each) > 1]
        complaints += [f"{each} is twice" for each in places if places.count(each) > 1]
        for each in document.occurrences:
            if each.symbol not in (told if each.symbol.startswith("local") else own | set(external)):
                complaints.append(f"nothing is known of {each.symbol}")
            if each.symbol_roles & 1 and each.symbol not in told:
                complaints.append(
                    f"{each.symbol} is defined in {document.relative_path}, which does not say so"
                )
        for symbol in document.symbols:
            for each in symbol.relationships:
                if each.symbol not in own | set(external):
                    complaints.append(f"{symbol.symbol} relates to {each.symbol}, which is nobody")
    return complaints

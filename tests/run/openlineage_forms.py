"""Whether a document is an OpenLineage event, by the classes that OpenLineage makes of its schemas."""

from __future__ import annotations

from types import ModuleType
from typing import Any, cast

import attr
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import column_lineage_dataset, parent_run, schema_dataset
from openlineage.client.serde import Serde

# Parts of facets that have a class of their own.
_PARTS: dict[tuple[str, str], Any] = {
    ("ColumnLineageDatasetFacet", "dataset"): column_lineage_dataset.InputField,
    ("SchemaDatasetFacet", "fields"): schema_dataset.SchemaDatasetFacetFields,
    ("Fields", "inputFields"): column_lineage_dataset.InputField,
    ("InputField", "transformations"): column_lineage_dataset.Transformation,
    ("ParentRunFacet", "run"): parent_run.Run,
    ("ParentRunFacet", "job"): parent_run.Job,
    ("ParentRunFacet", "root"): parent_run.Root,
    ("Root", "run"): parent_run.RootRun,
    ("Root", "job"): parent_run.RootJob,
}


def facet_classes() -> dict[str, Any]:
    """The classes of all facets, by the address of their schemas."""
    modules = [each for each in vars(facet_v2).values() if isinstance(each, ModuleType)]
    found = [each for module in modules for each in vars(module).values() if hasattr(each, "_get_schema")]
    bases = [facet_v2.RunFacet, facet_v2.DatasetFacet]
    return {each._get_schema(): each for each in (*found, *bases)}


FACETS = facet_classes()


def check_event(document: dict[str, Any]) -> None:
    """Makes an event of a document: an error if a field is missing, unknown or wrong."""
    assert set(document) == {
        *("eventTime", "eventType", "inputs", "job", "outputs", "producer", "run", "schemaURL")
    }
    datasets = {
        "inputs": [_dataset(event_v2.InputDataset, each, "inputFacets") for each in document["inputs"]],
        "outputs": [_dataset(event_v2.OutputDataset, each, "outputFacets") for each in document["outputs"]],
    }
    run, job = document["run"], document["job"]
    made = event_v2.RunEvent(
        eventTime=document["eventTime"],
        eventType=event_v2.RunState(document["eventType"]),
        run=event_v2.Run(runId=run["runId"], facets=_facets(run["facets"])),
        job=event_v2.Job(namespace=job["namespace"], name=job["name"], facets=_facets(job["facets"])),
        producer=document["producer"],
        **datasets,
    )
    assert document["schemaURL"] == made.schemaURL
    assert Serde.to_dict(made)["run"]["runId"] == run["runId"]


def _dataset(kind: Any, document: dict[str, Any], own: str) -> Any:
    assert set(document) <= {"namespace", "name", "facets", own}
    facets = {key: _facets(document.get(key, {})) for key in ("facets", own)}
    return kind(namespace=document["namespace"], name=document["name"], **facets)


def _facets(documents: dict[str, Any]) -> dict[str, Any]:
    return {name: _facet(document) for name, document in documents.items()}


def _facet(document: dict[str, Any]) -> Any:
    kind = FACETS[document["_schemaURL"]]
    assert document["_producer"].startswith("pkg:pypi/headwater@")
    fields = {key: value for key, value in document.items() if not key.startswith("_")}
    if kind in {facet_v2.RunFacet, facet_v2.DatasetFacet}:
        return kind().with_additional_properties(**fields)
    if kind is column_lineage_dataset.ColumnLineageDatasetFacet:
        fields["fields"] = {
            name: _made(column_lineage_dataset.Fields, part) for name, part in fields["fields"].items()
        }
    return _made(kind, fields)


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    """An object of a class; a field that it does not have is an error."""
    known = {each.name for each in attr.fields(kind)}
    assert set(fields) <= known, f"{kind.__name__} has no {set(fields) - known}"
    for key, value in fields.items():
        part = _PARTS.get((kind.__name__, key))
        if part is not None and isinstance(value, list):
            fields = {**fields, key: [_made(part, each) for each in cast("list[Any]", value)]}
        elif part is not None:
            fields = {**fields, key: _made(part, value)}
    return kind(**fields)

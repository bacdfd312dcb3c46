"""`headwater doctor`: what this installation can do, tried.

Not here: the probes.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import typer

from headwater.cli.options import Debug, Json, Master, NoColor, ProfileName, Quiet, Settings, flags_of
from headwater.cli.outcomes import show_capabilities
from headwater.cli.progress import showing_progress
from headwater.cli.render import write_json
from headwater.opening import open_project
from headwater.pipeline import PROJECT_FILE
from headwater.run import Progress, probe_capabilities
from headwater.runtime import dependency_manifest, headwater_home, resolve_profile


def doctor(
    json: Json = False,
    profile: ProfileName = None,
    master: Master = None,
    settings: Settings = None,
    quiet: Quiet = False,
    no_color: NoColor = False,
    debug: Debug = False,  # noqa: ARG001  read by the one place that shows errors
) -> None:
    """Try what runs rely on: a Delta commit, a change feed, a stored plan, an Arrow function.

    In a project's folder the project's profile is used. Exits 1 if anything does not work.

    Example: headwater doctor --json
    """
    flags = flags_of(master, settings)
    if Path(PROJECT_FILE).exists():
        chosen = open_project(Path(), profile=profile, settings=flags).profile
    else:
        chosen = resolve_profile(profiles={}, environ=os.environ, chosen=profile, flags=flags)
    with showing_progress(quiet=quiet, no_color=no_color) as listen:
        found = probe_capabilities(chosen, lambda message: listen(Progress(message=message)))
        manifest = dependency_manifest()
    if json:
        document = {
            "compatible": all(each.compatible for each in found),
            "capabilities": [asdict(each) for each in found],
            "versions": {key: value for key, value in asdict(manifest).items() if key != "jars"},
            "jars": [asdict(jar) for jar in manifest.jars],
        }
        write_json(document)
    elif not quiet:
        show_capabilities(found, manifest, no_color=no_color, log=headwater_home() / "logs")
    if not all(each.compatible for each in found):
        raise typer.Exit(1)

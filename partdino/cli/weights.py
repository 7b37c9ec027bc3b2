"""`partdino weights`: list, fetch, find and check the weights files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from partdino.cli.console import Reporter, print_json
from partdino.describe import weights

if TYPE_CHECKING:
    from partdino.describe.weights import Weights

app = typer.Typer(
    help="List, fetch, find and check the weights of backbones and of the boundary detector.",
    no_args_is_help=True,
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
_Name = Annotated[str, typer.Argument(help="A name shown by `partdino weights list`.")]
_Names = Annotated[list[str], typer.Argument(help="Names shown by `partdino weights list`.")]


@app.command("list")
def list_weights(json: _Json = False) -> None:
    """List all weights: whether they are here, size, licence, what they are for."""
    rows = [_row(item) for item in weights.everything()]
    if json:
        print_json({"cache": str(weights.cache_folder()), "weights": rows})
        return
    typer.echo(f"{'NAME':<22}{'STATE':<9}{'SIZE':>9}  {'LICENCE':<16}FOR")
    for row in rows:
        size = f"{row['bytes'] / 1e6:.0f} MB"
        typer.echo(
            f"{row['name']:<22}{row['state']:<9}{size:>9}  {row['licence']:<16}{row['purpose']}"
        )


@app.command()
def pull(names: _Names) -> None:
    """Fetch weights and check their hashes; a damaged file is replaced."""
    reporter = Reporter()
    for name in names:
        weights.pull(name, reporter.say)


@app.command()
def path(name: _Name) -> None:
    """Print where a weights file lies, once its hash is found right."""
    typer.echo(weights.path(name))


@app.command()
def verify(json: _Json = False) -> None:
    """Hash all weights on this machine anew; exit code 1 if one is damaged."""
    rows = []
    for item in weights.everything():
        state = weights.verify(item.name)
        if state is not weights.State.MISSING:
            rows.append({**_row(item), "state": state.value})
    if json:
        print_json({"cache": str(weights.cache_folder()), "weights": rows})
    else:
        _print_states(rows)
    if any(row["state"] == weights.State.DAMAGED.value for row in rows):
        raise typer.Exit(1)


def _print_states(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        cure = f"; replace it with `partdino weights pull {row['name']}`"
        damaged = row["state"] == weights.State.DAMAGED.value
        typer.echo(f"{row['name']}: {row['state']}, {row['file']}{cure if damaged else ''}")
    if not rows:
        typer.echo("no weights are on this machine")


def _row(item: Weights) -> dict[str, Any]:
    file = item.locate()
    return {
        "name": item.name,
        "purpose": item.purpose,
        "state": "present" if file else "missing",
        "bytes": item.size,
        "licence": item.licence,
        "source": item.source,
        "file": str(file) if file else None,
        "sha256": item.expected_sha256(file) if file else None,
    }

"""The column of names of a table, in the languages of people (B14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from things_of_tables import Things


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("Réf;Nom;Prix", ("Vis à Bois", "Marteau", "Clé Plate")),
        ("Nr;Navn;Pris", ("Skrue", "Rød Hammer", "Tang")),
        ("Código;Nombre;Precio", ("Tornillo", "Martillo Grande", "Llave Inglesa")),
        ("Code;Naam;Prijs", ("Schroef", "Hamer", "Tang")),
        ("Nr;Bezeichnung;Preis", ("Holz Schraube", "Hammer", "Zange")),
        ("Nr;Titel;Preis", ("Faust", "Die Räuber", "Nathan")),
        ("Код;Название;Цена", ("Винт", "Молоток", "Ключ")),
        ("ID;Name;Price", ("Wood Screw", "Hammer", "Pliers")),
    ],
)
def test_rows_are_called_what_the_column_of_names_says(
    tmp_path: Path, header: str, names: tuple[str, ...]
) -> None:
    key, _, price = header.split(";")
    rows = "".join(f"A{row};{name};{row},50\n" for row, name in enumerate(names, start=1))
    things = Things(tmp_path, {"lager.csv": f"{header}\n{rows}"}, row=key)
    labels = things.labels()
    assert [labels[f"lager/a{row}"] for row in (1, 2, 3)] == list(names)
    assert things.values(price.lower())["lager/a1"] == "1.50"


def test_numbers_under_such_a_header_are_no_names(tmp_path: Path) -> None:
    """Nombre is Spanish for a name, and French for a number of things."""
    text = "Réf,Nombre,Prix\nA1,40,5\nA2,17,6\nA3,12,7\n"
    things = Things(tmp_path, {"stock.csv": text}, row="Réf")
    assert things.values("nombre") == {"stock/a1": "40", "stock/a2": "17", "stock/a3": "12"}

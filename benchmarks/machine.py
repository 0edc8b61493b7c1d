"""Description of the machine on which figures are measured."""

from __future__ import annotations

import datetime as dt
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from crosscut import _core


@dataclass(frozen=True)
class Machine:
    """The kind of machine, its load, and the versions of the software."""

    date: str
    cores: int
    simd: str
    virtual: bool
    system: str
    load: float  # running processes per core when the measurement began
    versions: dict[str, str]

    @classmethod
    def here(cls, packages: tuple[str, ...] = ("crosscut", "numpy", "scikit-learn")) -> Machine:
        """Describe this machine; packages that are not installed are left out."""
        versions = {"python": platform.python_version()}
        for package in packages:
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                continue
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cls(
            date=dt.datetime.now(tz=dt.UTC).date().isoformat(),
            cores=cores,
            simd=_core.simd_level(),
            virtual=_is_virtual(),
            system=f"{platform.system()} {platform.machine()}",
            load=round(os.getloadavg()[0] / cores, 2) if hasattr(os, "getloadavg") else float("nan"),
            versions=versions,
        )

    @property
    def name(self) -> str:
        """A short description of the machine.

        >>> Machine("2026-01-01", 2, "avx512", True, "Linux x86_64", 0.1, {}).name
        '2 cores, AVX-512, virtual machine'
        """
        simd = {"avx512": "AVX-512", "avx2": "AVX2"}.get(self.simd, self.simd)
        return f"{self.cores} cores, {simd}" + (", virtual machine" if self.virtual else "")

    def as_dict(self) -> dict[str, object]:
        """Return everything, for JSON."""
        return {"name": self.name, **asdict(self)}

    def __str__(self) -> str:
        versions = ", ".join(f"{package} {number}" for package, number in self.versions.items())
        load = f"{self.load:.1f} processes per core at the start"
        return f"{self.date}, {self.name} ({self.system}; {load}); {versions}"


def _is_virtual() -> bool:
    try:
        return "hypervisor" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False

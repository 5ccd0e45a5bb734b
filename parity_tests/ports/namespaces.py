"""numpy_impl in another library: its one line `import numpy as np` replaced.

`numpy_impl` keeps to the functions of the Python array API standard and
assigns into no array, so that another library with these functions can
replace NumPy. No file is changed, only the text that is compiled: the import
in every module, and in `arrays` the conversion from and to NumPy.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy
from numpy.typing import NDArray

# What is written for NumPy alone: threads and buffers, and random words.
NOT_PORTABLE = ("fast", "generator")
# And of these, what is not even there for another library.
NOT_THERE = ("fast", "fast_scores", "fast_threads")
IMPORT = "\nimport numpy as np\n"
ENTRANCE = """
from {module} import entrance

from_numpy, to_numpy, is_array, uniform = entrance(np)
"""


def in_namespace(package: ModuleType, namespace: str) -> ModuleType:
    """Return a package with another library in place of NumPy.

    ImportError says that there is no such library.
    """
    if namespace.split(".")[0] == "jax":
        # Without it JAX has no float64, and gives float32 instead.
        os.environ.setdefault("JAX_ENABLE_X64", "1")
    importlib.import_module(namespace)
    name = f"{package.__name__}_on_{namespace.replace('.', '_')}"
    if name not in sys.modules:
        folder = source(package, "__init__").parent
        sys.meta_path.insert(0, Finder(name, folder, namespace))
    return importlib.import_module(name)


def source(package: ModuleType, module: str) -> Path:
    """Return the file of a module."""
    return Path(str(package.__file__)).with_name(f"{module}.py")


class Finder(MetaPathFinder):
    """Finds the modules of a package under another name."""

    def __init__(self, name: str, folder: Path, namespace: str) -> None:
        self.name, self.folder, self.namespace = name, folder, namespace

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return where a module is, None if it is none of this package."""
        first, *rest = fullname.split(".")
        file = self.folder / f"{rest[0] if rest else '__init__'}.py"
        if first != self.name or len(rest) > 1 or not file.is_file():
            return None
        if rest and rest[0] in NOT_THERE:
            return None
        spec = importlib.util.spec_from_file_location(
            fullname, file, loader=Loader(fullname, file, self.namespace)
        )
        if spec is not None and not rest:
            # What this finder does not have is nowhere else.
            spec.submodule_search_locations = []
        return spec


class Loader(SourceFileLoader):
    """Compiles a module's text with another import."""

    def __init__(self, fullname: str, file: Path, namespace: str) -> None:
        super().__init__(fullname, str(file))
        self.namespace = namespace

    def get_code(self, fullname: str) -> CodeType:
        """Return the code; the compiled file that Python keeps is not."""
        file = Path(self.get_filename(fullname))
        text = replaced(file.stem, self.get_source(fullname), self.namespace)
        return compile(text, str(file), "exec", dont_inherit=True)


def replaced(module: str, text: str | None, namespace: str) -> str:
    """Return the text of a module with a library in place of NumPy."""
    text = text or ""
    if module in NOT_PORTABLE:
        return text
    text = text.replace(IMPORT, f"\nimport {namespace} as np\n")
    return text + (
        ENTRANCE.format(module=__name__) if module == "arrays" else ""
    )


def entrance(np: Any) -> tuple[Callable[..., Any], ...]:
    """Return the four functions by which arrays come into a library."""
    kind = getattr(np, "ndarray", type(np.zeros(0)))

    def from_numpy(array: NDArray[Any]) -> Any:
        # A copy: no library keeps a view of what is not its own.
        return np.asarray(numpy.array(array, order="C"))

    def to_numpy(array: Any) -> NDArray[Any]:
        if hasattr(array, "detach"):
            array = array.detach().cpu()
        return numpy.array(numpy.from_dlpack(array))

    def is_array(candidate: object) -> bool:
        return isinstance(candidate, kind)

    def uniform(shape: tuple[int, ...]) -> Any:
        return from_numpy(numpy.random.default_rng().random(shape))

    return from_numpy, to_numpy, is_array, uniform

import importlib
import pkgutil

from glassformer import plotting


def test_the_package_exports_every_plot_function():
    modules = [
        importlib.import_module(f"glassformer.plotting.{module.name}")
        for module in pkgutil.iter_modules(plotting.__path__)
    ]
    functions = {name for module in modules for name in vars(module) if name.startswith("plot_")}
    assert functions <= vars(plotting).keys()

#!/usr/bin/env python3
"""Fails if modules of the Python package import one another in a circle, or within functions: python_imports.py PROJECT.

Imports for type checkers count. Packages that kith can do without (Matplotlib, h5py, astropy, ...) may be imported within
functions. Modules of kith that only some programs use are loaded by `kith.__getattr__`, through importlib.
"""

import ast
import pathlib
import sys

PACKAGE = "kith"
COMPILED = {"kith._core", "kith._jax"}


def module_of(file, root):
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_by(node, module, is_package, modules):
    """The package's modules that an import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        base = module.split(".")[:len(module.split(".")) - node.level + is_package] if node.level else []
        origin = ".".join([*base, *([node.module] if node.module else [])])
        names = [f"{origin}.{alias.name}" if f"{origin}.{alias.name}" in modules else origin for alias in node.names]
    return {name for name in names if name in modules}


def imports_of(file, module, modules):
    """Imported modules, and those among them that are imported within functions, with their lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    is_package = file.name == "__init__.py"
    within = [node for function in ast.walk(tree) if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
              for node in ast.walk(function)]
    found, late = set(), []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = imported_by(node, module, is_package, modules)
            found |= names
            late += [(node.lineno, name) for name in sorted(names) if node in within]
    return found - {module}, late


def circle_in(graph):
    """A circle of modules, as a list that begins and ends with the same one; empty if there is none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module):], module]
        if module in done:
            return []
        path.append(module)
        circle = next(filter(None, map(visit, sorted(graph[module]))), [])
        path.pop()
        done.add(module)
        return circle

    return next(filter(None, map(visit, sorted(graph))), [])


def main():
    root = pathlib.Path(sys.argv[1]) / "python"
    files = {module_of(file, root): file for file in sorted((root / PACKAGE).rglob("*.py"))}
    problems, graph = [], {module: set() for module in COMPILED}
    for module, file in files.items():
        found, late = imports_of(file, module, files.keys() | COMPILED)
        problems += [f"{file.relative_to(root)}:{line}: imports {name} within a function; import it at the top"
                     for line, name in late]
        graph[module] = found
    circle = circle_in(graph)
    if circle:
        problems.append(f"a circle of imports: {' -> '.join(circle)}")
    for problem in problems:
        print(problem)
    print(f"{len(files)} modules, {sum(map(len, graph.values()))} imports, {len(problems)} problems")
    return 1 if problems or not any(graph.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

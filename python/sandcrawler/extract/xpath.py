"""Compiled XPath with the type of its answer: elements, strings (attributes, text) or yes and no."""

from collections.abc import Callable
from typing import Any, cast

from lxml.etree import XPath
from lxml.html import HtmlElement


def elements(expression: str) -> Callable[[Any], list[HtmlElement]]:
    """A function from a tree to the elements that the expression selects, in document order."""
    path = XPath(expression)
    return lambda root: cast(list[HtmlElement], path(root))


def strings(expression: str) -> Callable[[Any], list[str]]:
    """A function from a tree to the attributes or texts that the expression selects."""
    path = XPath(expression)
    return lambda root: cast(list[str], path(root))


def holds(expression: str) -> Callable[[Any], bool]:
    """A function from a tree to whether the expression selects anything."""
    path = XPath(f"boolean({expression})")
    return lambda root: bool(path(root))

"""The values that cross a boundary: frozen, typed, and the source of the JSON Schemas in `kafka/schemas/`.

Two kinds. Pydantic models are what goes over the wire (Kafka, the command line's output): `messages`, and the `parts`
that they are made of. Dataclasses are what stages hand to each other inside one process (`Capture`, `Page`,
`Extracted`): `stages`. Nothing here does any I/O.
"""

from sandcrawler.model.messages import HtmlTeixml, IngestRequest, IngestWebResult, PdfText, XmlDoc
from sandcrawler.model.parts import (
    Biblio,
    CdxRow,
    FileMeta,
    HtmlBody,
    IngestType,
    MissingResource,
    NextHop,
    PdfMeta,
    ResourceType,
    Terminal,
    WantedResource,
    WebResource,
    XmlMeta,
)
from sandcrawler.model.stages import Capture, Extracted, Follow, Page, WarcPlace

__all__ = [
    "Biblio",
    "Capture",
    "CdxRow",
    "Extracted",
    "FileMeta",
    "Follow",
    "HtmlBody",
    "HtmlTeixml",
    "IngestRequest",
    "IngestType",
    "IngestWebResult",
    "MissingResource",
    "NextHop",
    "Page",
    "PdfMeta",
    "PdfText",
    "ResourceType",
    "Terminal",
    "WantedResource",
    "WarcPlace",
    "WebResource",
    "XmlDoc",
    "XmlMeta",
]

"""The JSON Schemas of `kafka/schemas/`: one file for each kind of message, made from the models.

python -m sandcrawler.schemas      writes them; a test holds the files to the models
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from sandcrawler.model import HtmlTeixml, IngestRequest, IngestWebResult, PdfText, XmlDoc
from sandcrawler.names import shared


class DeadLetterHeaders(BaseModel):
    """The headers of a dead letter, named as Kafka Connect names them (KIP-298). Key and value are the original's."""

    model_config = ConfigDict(extra="allow")

    topic: Annotated[str, Field(alias="__connect.errors.topic", description="Whole name of the topic it was in")]
    partition: Annotated[
        str, Field(alias="__connect.errors.partition", pattern="^[0-9]+$", description="Partition there, as text")
    ]
    offset: Annotated[
        str, Field(alias="__connect.errors.offset", pattern="^[0-9]+$", description="Offset there, as text")
    ]
    worker: Annotated[
        str, Field(alias="__connect.errors.connector.name", description="The worker that could not use it")
    ]
    task: Annotated[str, Field(alias="__connect.errors.task.id", description="Its process id")]
    stage: Annotated[str, Field(alias="__connect.errors.stage", description="What it was doing, in Connect's words")]
    function: Annotated[
        str, Field(alias="__connect.errors.class.name", description="The function that refused the message")
    ]
    error: Annotated[str, Field(alias="__connect.errors.exception.class.name", description="The error's class")]
    reason: Annotated[
        str, Field(alias="__connect.errors.exception.message", max_length=1600, description="What is wrong with it")
    ]


MESSAGES: Mapping[str, type[BaseModel]] = {
    "request": IngestRequest,
    "result": IngestWebResult,
    "html-teixml": HtmlTeixml,
    "xml-doc": XmlDoc,
    "pdf-text": PdfText,
    "dead-letter-headers": DeadLetterHeaders,
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of one kind of message."""
    made = MESSAGES[name].model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.json", **made}


def text(name: str) -> str:
    """The schema as its file has it."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write every schema into a folder."""
    for name in MESSAGES:
        (folder / f"{name}.json").write_text(text(name), "utf-8")


if __name__ == "__main__":
    write(shared("kafka/schemas"))

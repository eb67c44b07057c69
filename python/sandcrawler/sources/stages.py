"""Words for versions → fatcat's release stages."""

from collections.abc import Mapping

# NISO's words, as OpenAlex and Unpaywall write them.
NISO: Mapping[str, str] = {
    "publishedVersion": "published",
    "acceptedVersion": "accepted",
    "submittedVersion": "submitted",
}
# OpenAIRE's, as repositories write them into dc:type.
OPENAIRE: Mapping[str, str] = {
    f"info:eu-repo/semantics/{word}": stage
    for word, stage in (*NISO.items(), ("draftVersion", "draft"), ("draft", "draft"), ("updatedVersion", "updated"))
}

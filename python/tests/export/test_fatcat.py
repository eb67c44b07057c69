"""Rows of the tables → fatcat's entities."""

from typing import Any

from sandcrawler.export.fatcat import made

URL = "https://journal.example.org/1"
A, B = "a" * 40, "b" * 40


def row(kind: str = "html", **changes: Any) -> dict[str, Any]:
    whole = {
        "ingest_type": kind,
        "base_url": "https://doi.org/10.1234/x",
        "status": "success",
        "terminal_url": URL,
        "terminal_dt": "20240506070809",
        "terminal_status_code": 200,
        "terminal_sha1hex": A,
        "sha256hex": "c" * 64,
        "md5hex": "d" * 32,
        "size_bytes": 9,
        "mimetype": {"html": "text/html", "xml": "application/jats+xml", "pdf": "application/pdf"}[kind],
        "surt": "org,example,journal)/1",
        "resources": [
            {
                "surt": "org,example,journal)/f.png",
                "timestamp": "2024-05-06T07:08:10Z",
                "url": "https://journal.example.org/f.png",
                "sha1hex": B,
                "sha256hex": "e" * 64,
                "size": 3,
                "mimetype": "image/png",
                "status_code": 200,
                "resource_type": "image",
            }
        ]
        if kind == "html"
        else None,
        "requests": [
            {
                "link_source": "doi",
                "link_source_id": "10.1234/x",
                "ingest_request_source": "fatcat-ingest",
                "fatcat": {"release_ident": "r1"},
                "ext_ids": {"doi": "10.1234/x"},
                "edit_extra": {"note": 1},
            }
        ],
    }
    return whole | changes


def test_a_webcapture() -> None:
    (entity,) = made([row()])
    assert entity == {
        "cdx": [
            {
                "surt": "org,example,journal)/1",
                "timestamp": "2024-05-06T07:08:09Z",
                "url": URL,
                "mimetype": "text/html",
                "status_code": 200,
                "sha1": A,
                "sha256": "c" * 64,
                "size": 9,
            },
            {
                "surt": "org,example,journal)/f.png",
                "timestamp": "2024-05-06T07:08:10Z",
                "url": "https://journal.example.org/f.png",
                "mimetype": "image/png",
                "status_code": 200,
                "sha1": B,
                "sha256": "e" * 64,
                "size": 3,
            },
        ],
        "archive_urls": [{"rel": "webarchive", "url": f"https://web.archive.org/web/20240506070809/{URL}"}],
        "original_url": URL,
        "timestamp": "2024-05-06T07:08:09Z",
        "release_ids": ["r1"],
        "edit_extra": {
            "note": 1,
            "ingest_request_source": "fatcat-ingest",
            "link_source": "doi",
            "link_source_id": "10.1234/x",
        },
    }


def test_a_file() -> None:
    (entity,) = made([row("pdf")], "https://archive.example.org/web/")
    assert entity == {
        "md5": "d" * 32,
        "sha1": A,
        "sha256": "c" * 64,
        "size": 9,
        "mimetype": "application/pdf",
        "urls": [
            {"rel": "publisher", "url": URL},
            {"rel": "webarchive", "url": f"https://archive.example.org/web/20240506070809/{URL}"},
        ],
        "release_ids": ["r1"],
        "edit_extra": entity["edit_extra"],
    }


def test_one_document_is_one_entity_with_all_that_asked_for_it() -> None:
    other = [{"link_source": "doaj", "link_source_id": "7", "rel": "repository", "fatcat": {"release_ident": "r2"}}]
    copy = "https://repository.example.edu/1.pdf"
    entities = list(
        made(
            [
                row("pdf"),
                row("pdf", base_url="https://other.example.org/", requests=row()["requests"] + other),
                row("pdf", terminal_url=copy, requests=other),
                row("pdf", terminal_sha1hex=B, requests=None),
            ]
        )
    )
    assert [entity["sha1"] for entity in entities] == [A, B]
    assert [url["url"] for url in entities[0]["urls"] if url["rel"] != "webarchive"] == [URL, copy]
    assert entities[0]["urls"][2]["rel"] == "repository"
    assert entities[0]["release_ids"] == ["r1", "r2"]
    assert entities[1]["release_ids"] == []
    assert entities[1]["urls"][0]["rel"] == "web"


def test_a_page_is_told_at_its_last_capture_and_apart_from_copies() -> None:
    rows = [row(), row(terminal_dt="20200101000000"), row(terminal_url="https://mirror.example.org/1", surt=None)]
    first, second = made(rows)
    assert first["timestamp"] == "2024-05-06T07:08:09Z"
    assert second["cdx"][0]["surt"] == "org,example,mirror)/1"


def test_captures_that_were_not_200_are_no_webcaptures() -> None:
    assert list(made([row(terminal_status_code=203)])) == []
    assert len(list(made([row("xml", terminal_status_code=203)]))) == 1


def test_identifiers_stand_in_for_a_release() -> None:
    (entity,) = made([row(requests=[{"ext_ids": {"doi": "10.1234/x"}}, "junk", {"fatcat": 3}])])
    assert entity["release_ids"] == []
    assert entity["edit_extra"]["ext_ids"] == {"doi": "10.1234/x"}

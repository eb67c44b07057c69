-- Every table, index and comment. Applied by `sandcrawler setup` (yoyo-migrations), once, in one transaction.
--
-- What holds for all of them:
-- * Every table has a moment of the result that last spoke (`updated`, or `created` where the first one counts): the
--   upsert of persist/postgres.py compares it, so that replays and late arrivals change nothing.
-- * Digests are lower-case hex, as in Kafka, in the bucket and in fatcat. Raw bytes would save some 80 bytes a row and
--   index entry (8 GB at 100 million rows); being able to paste one word everywhere is worth more.
-- * An entry of a b-tree holds at most 2,704 bytes, so every text in a key has a limit; python/sandcrawler/persist/rows.py
--   keeps to the same limits and counts what is too long.
-- * No CHECK lists statuses, scopes or types: a new word is no migration.

CREATE TABLE ingest_request (
    link_source             TEXT NOT NULL CHECK (octet_length(link_source) BETWEEN 1 AND 100),
    link_source_id          TEXT NOT NULL CHECK (octet_length(link_source_id) BETWEEN 1 AND 500),
    ingest_type             TEXT NOT NULL CHECK (octet_length(ingest_type) BETWEEN 1 AND 40),
    base_url                TEXT NOT NULL CHECK (octet_length(base_url) BETWEEN 1 AND 1500),
    ingest_request_source   TEXT NOT NULL CHECK (octet_length(ingest_request_source) BETWEEN 1 AND 500),
    created                 TIMESTAMPTZ NOT NULL,
    release_stage           TEXT CHECK (octet_length(release_stage) >= 1),
    request                 JSONB NOT NULL CHECK (jsonb_typeof(request) = 'object'),
    PRIMARY KEY (link_source, link_source_id, ingest_type, base_url)
);
CREATE INDEX ingest_request_base_url_idx ON ingest_request (base_url, ingest_type);
CREATE INDEX ingest_request_source_idx ON ingest_request (ingest_request_source, created);

COMMENT ON TABLE ingest_request IS 'Who asked for a link, and how: one row for each source, its identifier, type and URL';
COMMENT ON COLUMN ingest_request.link_source IS 'Where the link comes from: doi, doaj, arxiv, …';
COMMENT ON COLUMN ingest_request.link_source_id IS 'The identifier there';
COMMENT ON COLUMN ingest_request.ingest_type IS 'What was asked for: html, xml or pdf';
COMMENT ON COLUMN ingest_request.base_url IS 'The link as it was asked for';
COMMENT ON COLUMN ingest_request.ingest_request_source IS 'Who made the request: a harvester, a person, …';
COMMENT ON COLUMN ingest_request.created IS 'When the first result for this request was made';
COMMENT ON COLUMN ingest_request.release_stage IS 'published, accepted, submitted, …, where the source says';
COMMENT ON COLUMN ingest_request.request IS 'The first such request, verbatim: it can be sent again as it is';

CREATE TABLE ingest_file_result (
    ingest_type             TEXT NOT NULL CHECK (octet_length(ingest_type) BETWEEN 1 AND 40),
    base_url                TEXT NOT NULL CHECK (octet_length(base_url) BETWEEN 1 AND 1500),
    updated                 TIMESTAMPTZ NOT NULL,
    hit                     BOOLEAN NOT NULL,
    status                  TEXT NOT NULL CHECK (octet_length(status) >= 1),
    terminal_url            TEXT CHECK (octet_length(terminal_url) BETWEEN 1 AND 2048),
    terminal_dt             TEXT CHECK (terminal_dt ~ '^[0-9]{14}$'),
    terminal_status_code    INT,
    terminal_sha1hex        TEXT CHECK (terminal_sha1hex ~ '^[0-9a-f]{40}$'),
    PRIMARY KEY (ingest_type, base_url)
);
CREATE INDEX ingest_file_result_terminal_url_idx ON ingest_file_result (terminal_url) WHERE terminal_url IS NOT NULL;
CREATE INDEX ingest_file_result_terminal_sha1hex_idx ON ingest_file_result (terminal_sha1hex)
    WHERE terminal_sha1hex IS NOT NULL;
CREATE INDEX ingest_file_result_misses_idx ON ingest_file_result (status, updated) WHERE NOT hit;

COMMENT ON TABLE ingest_file_result IS 'What became of a link: the newest result of each type and URL';
COMMENT ON COLUMN ingest_file_result.ingest_type IS 'What was asked for: html, xml or pdf';
COMMENT ON COLUMN ingest_file_result.base_url IS 'The link as it was asked for';
COMMENT ON COLUMN ingest_file_result.updated IS 'When this result was made';
COMMENT ON COLUMN ingest_file_result.hit IS 'True for status success alone';
COMMENT ON COLUMN ingest_file_result.status IS 'The verdict; `sandcrawler statuses` explains every word';
COMMENT ON COLUMN ingest_file_result.terminal_url IS 'Where the hops ended; NULL where that is unknown or longer than 2,048 bytes';
COMMENT ON COLUMN ingest_file_result.terminal_dt IS 'When it was captured: 14 digits, UTC';
COMMENT ON COLUMN ingest_file_result.terminal_status_code IS 'HTTP status there';
COMMENT ON COLUMN ingest_file_result.terminal_sha1hex IS 'SHA-1 of the body there: the key of file_meta, html_meta, xml_meta, pdf_meta';

CREATE TABLE file_meta (
    sha1hex                 TEXT NOT NULL PRIMARY KEY CHECK (sha1hex ~ '^[0-9a-f]{40}$'),
    updated                 TIMESTAMPTZ NOT NULL,
    sha256hex               TEXT NOT NULL CHECK (sha256hex ~ '^[0-9a-f]{64}$'),
    md5hex                  TEXT NOT NULL CHECK (md5hex ~ '^[0-9a-f]{32}$'),
    size_bytes              BIGINT NOT NULL CHECK (size_bytes >= 0),
    mimetype                TEXT NOT NULL CHECK (octet_length(mimetype) >= 1)
);
CREATE INDEX file_meta_md5hex_idx ON file_meta (md5hex);

COMMENT ON TABLE file_meta IS 'Digests, size and type of the original bytes of every document that was judged';
COMMENT ON COLUMN file_meta.sha1hex IS 'SHA-1 of the bytes, transfer encodings undone';
COMMENT ON COLUMN file_meta.updated IS 'When the result was made whose mimetype this is; all else follows from the bytes';
COMMENT ON COLUMN file_meta.sha256hex IS 'SHA-256 of the same bytes';
COMMENT ON COLUMN file_meta.md5hex IS 'MD5 of the same bytes';
COMMENT ON COLUMN file_meta.size_bytes IS 'How many bytes';
COMMENT ON COLUMN file_meta.mimetype IS 'Type by content; the newest result''s view, since sniffing gets better';

CREATE TABLE cdx (
    url                     TEXT NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2048),
    datetime                TEXT NOT NULL CHECK (datetime ~ '^[0-9]{14}$'),
    updated                 TIMESTAMPTZ NOT NULL,
    sha1hex                 TEXT NOT NULL CHECK (sha1hex ~ '^[0-9a-f]{40}$'),
    surt                    TEXT CHECK (octet_length(surt) BETWEEN 1 AND 2560),
    mimetype                TEXT,
    status_code             INT,
    warc_path               TEXT,
    warc_offset             BIGINT CHECK (warc_offset >= 0),
    warc_csize              BIGINT CHECK (warc_csize > 0),
    etag                    TEXT,
    last_modified           TEXT,
    PRIMARY KEY (url, datetime)
);
CREATE INDEX cdx_sha1hex_idx ON cdx (sha1hex);
CREATE INDEX cdx_surt_datetime_idx ON cdx (surt, datetime) WHERE surt IS NOT NULL;

COMMENT ON TABLE cdx IS 'Captures of the primary documents that were judged (sub-resources are in html_meta.resources)';
COMMENT ON COLUMN cdx.url IS 'The URL that was captured';
COMMENT ON COLUMN cdx.datetime IS 'When: 14 digits, UTC';
COMMENT ON COLUMN cdx.updated IS 'When the result was made that brought this row';
COMMENT ON COLUMN cdx.sha1hex IS 'SHA-1 of the body, hex';
COMMENT ON COLUMN cdx.surt IS 'The URL as the archives sort it: org,example)/path; NULL if longer than 2,560 bytes';
COMMENT ON COLUMN cdx.mimetype IS 'Content-Type as served';
COMMENT ON COLUMN cdx.status_code IS 'HTTP status';
COMMENT ON COLUMN cdx.warc_path IS 'The WARC that holds the record: a bucket key, or an archive''s item/file';
COMMENT ON COLUMN cdx.warc_offset IS 'Where the record begins there, in bytes';
COMMENT ON COLUMN cdx.warc_csize IS 'Its compressed size in bytes';
COMMENT ON COLUMN cdx.etag IS 'ETag as served';
COMMENT ON COLUMN cdx.last_modified IS 'Last-Modified as served';

CREATE TABLE html_meta (
    sha1hex                 TEXT NOT NULL PRIMARY KEY CHECK (sha1hex ~ '^[0-9a-f]{40}$'),
    updated                 TIMESTAMPTZ NOT NULL,
    status                  TEXT NOT NULL CHECK (octet_length(status) >= 1),
    scope                   TEXT CHECK (octet_length(scope) >= 1),
    has_teixml              BOOLEAN NOT NULL,
    has_thumbnail           BOOLEAN NOT NULL DEFAULT FALSE,
    word_count              INT CHECK (word_count >= 0),
    biblio                  JSONB CHECK (jsonb_typeof(biblio) = 'object'),
    resources               JSONB CHECK (jsonb_typeof(resources) = 'array'),
    resources_missing       JSONB CHECK (jsonb_typeof(resources_missing) = 'array')
);

COMMENT ON TABLE html_meta IS 'What is known of an HTML document that was judged (success, unknown-scope, wrong-scope)';
COMMENT ON COLUMN html_meta.sha1hex IS 'SHA-1 of the HTML as it was received';
COMMENT ON COLUMN html_meta.updated IS 'When the result was made';
COMMENT ON COLUMN html_meta.status IS 'The verdict';
COMMENT ON COLUMN html_meta.scope IS 'What the page is: article-fulltext, landingpage, errorpage, …';
COMMENT ON COLUMN html_meta.has_teixml IS 'Whether its full text is in the bucket: html/ab/cd/SHA1.tei.xml';
COMMENT ON COLUMN html_meta.has_thumbnail IS 'Whether there is a picture of it (none are made yet)';
COMMENT ON COLUMN html_meta.word_count IS 'Words of the full text';
COMMENT ON COLUMN html_meta.biblio IS 'Bibliographic metadata, with the names of fatcat''s release entity';
COMMENT ON COLUMN html_meta.resources IS 'The captured sub-resources: surt, timestamp, url, digests, size, mimetype, resource_type';
COMMENT ON COLUMN html_meta.resources_missing IS 'Those that were wanted and not got: url, resource_type, status';

CREATE TABLE xml_meta (
    sha1hex                 TEXT NOT NULL PRIMARY KEY CHECK (sha1hex ~ '^[0-9a-f]{40}$'),
    updated                 TIMESTAMPTZ NOT NULL,
    status                  TEXT NOT NULL CHECK (octet_length(status) >= 1),
    schema                  TEXT CHECK (octet_length(schema) >= 1),
    root                    TEXT,
    encoding                TEXT,
    word_count              INT CHECK (word_count >= 0),
    biblio                  JSONB CHECK (jsonb_typeof(biblio) = 'object')
);

COMMENT ON TABLE xml_meta IS 'What is known of an XML document that was judged';
COMMENT ON COLUMN xml_meta.sha1hex IS 'SHA-1 of the XML as it was received';
COMMENT ON COLUMN xml_meta.updated IS 'When the result was made';
COMMENT ON COLUMN xml_meta.status IS 'The verdict';
COMMENT ON COLUMN xml_meta.schema IS 'jats, tei or other: it decides the suffix in the bucket, xml/ab/cd/SHA1.jats.xml';
COMMENT ON COLUMN xml_meta.root IS 'Name of the root element';
COMMENT ON COLUMN xml_meta.encoding IS 'Encoding of the original; the body in the bucket is UTF-8';
COMMENT ON COLUMN xml_meta.word_count IS 'Words of the text';
COMMENT ON COLUMN xml_meta.biblio IS 'Bibliographic metadata, with the names of fatcat''s release entity';

CREATE TABLE pdf_meta (
    sha1hex                 TEXT NOT NULL PRIMARY KEY CHECK (sha1hex ~ '^[0-9a-f]{40}$'),
    updated                 TIMESTAMPTZ NOT NULL,
    status                  TEXT NOT NULL CHECK (octet_length(status) >= 1),
    page_count              INT CHECK (page_count >= 0),
    word_count              INT CHECK (word_count >= 0),
    has_text                BOOLEAN,
    metadata                JSONB CHECK (jsonb_typeof(metadata) = 'object')
);

COMMENT ON TABLE pdf_meta IS 'What is known of a PDF that was judged';
COMMENT ON COLUMN pdf_meta.sha1hex IS 'SHA-1 of the PDF';
COMMENT ON COLUMN pdf_meta.updated IS 'When the result was made';
COMMENT ON COLUMN pdf_meta.status IS 'The verdict';
COMMENT ON COLUMN pdf_meta.page_count IS 'Pages';
COMMENT ON COLUMN pdf_meta.word_count IS 'Words of the text layer';
COMMENT ON COLUMN pdf_meta.has_text IS 'Whether there is a text layer; its text is in the bucket: text/ab/cd/SHA1.txt';
COMMENT ON COLUMN pdf_meta.metadata IS 'The PDF''s own document information';

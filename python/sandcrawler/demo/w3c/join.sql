-- What became of every publication, with its bibliographic record.
-- `publication` (docid, record) holds the harvested records; docid is what a request carries as link_source_id.
SELECT p.docid,
       p.record #>> '{title,0,content}'              AS title,
       p.record #>> '{status,stage,content}'         AS status,
       p.record #>> '{date,0,at}'                    AS published,
       q.release_stage                               AS stage,
       r.status                                      AS result,
       h.scope,
       h.word_count,
       h.biblio ->> 'title' = p.record #>> '{title,0,content}' AS same_title,
       r.terminal_sha1hex
FROM publication p
JOIN ingest_request q       ON q.link_source = 'w3c' AND q.link_source_id = p.docid
JOIN ingest_file_result r   ON r.ingest_type = q.ingest_type AND r.base_url = q.base_url
LEFT JOIN html_meta h       ON h.sha1hex = r.terminal_sha1hex
ORDER BY published, p.docid

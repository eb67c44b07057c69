-- What a result says and no row did, so that it can be told again when a server says that nothing has changed
-- (proposals/0010-known-captures.md). Rows from before are NULL here; an html_meta row without its agent is not told again.

ALTER TABLE ingest_file_result ADD COLUMN platform TEXT CHECK (octet_length(platform) >= 1);
ALTER TABLE html_meta ADD COLUMN agent TEXT CHECK (octet_length(agent) >= 1);
ALTER TABLE html_meta ADD COLUMN resources_filtered INT CHECK (resources_filtered >= 0);

COMMENT ON COLUMN ingest_file_result.platform IS 'What the site runs on: ojs3, wordpress, …, where it shows';
COMMENT ON COLUMN html_meta.agent IS 'What made its full text: trafilatura/X.Y';
COMMENT ON COLUMN html_meta.resources_filtered IS 'Sub-resources that were left out by rule (advertising, trackers)';

"""Where results come to rest: tables (PostgreSQL) and bodies (S3). A worker is one `decode` and one sink's `write`.

results   record -> Arrival          bodies    record -> Blob
rows      Arrival -> rows of tables  blobs     Blobs -> bucket
postgres  rows -> upserts            memory    both sinks in process, held to the same contract by the tests
"""

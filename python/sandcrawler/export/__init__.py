"""Out again: what is persisted, as fatcat's entities, as CSV, as Parquet. Streaming, in bounded memory."""

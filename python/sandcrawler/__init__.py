"""sandcrawler: a Kafka-driven ingest pipeline for scholarly web documents. Start reading at `workers.py`."""

__version__ = "0.1.0"

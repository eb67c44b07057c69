"""The local stack: real Kafka, PostgreSQL and SeaweedFS, from wheels and Maven Central, in a folder of the user's own.

`base` is the interface that `kafka`, `postgres` and `seaweedfs` keep; `local` runs whatever keeps it; `state` is what a
stack's folder remembers; `process`, `ports` and `jars` are what they all stand on.
"""

from sandcrawler.errors import ConfigurationError

try:
    from sandcrawler.stack.local import Addresses, Row, down, ps, running, up
except ModuleNotFoundError as error:
    raise ConfigurationError(f"the local stack needs {error.name}: pip install 'sandcrawler[stack]'") from error

__all__ = ["Addresses", "Row", "down", "ps", "running", "up"]

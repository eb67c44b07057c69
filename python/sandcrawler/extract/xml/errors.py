"""The one error of reading XML. It becomes the status xml-parse-error, and never leaves this package."""


class XmlError(Exception):
    """The document is not well-formed, or asks for what is refused. The text says what and, where known, where."""

"""Languages as documents write them → ISO 639-1."""

from functools import lru_cache

import langcodes


@lru_cache(maxsize=1024)
def iso639_1(tag: str | None) -> str | None:
    """The two-letter code of a language tag or three-letter code: "EN", "eng", "pt-BR" → "en", "en", "pt"."""
    if not tag:
        return None
    try:
        code = langcodes.standardize_tag(tag.strip().replace("_", "-"), macro=True)
    except (ValueError, LookupError):
        return None
    language = langcodes.Language.get(code).language
    return language if language and len(language) == 2 and language.isalpha() else None

"""Volume, issue and pages out of a citation that a page gives in one piece.

Dublin Core has no fields for them, so publishers write them into dc.source or dc.identifier:
"Fen Physics, Vol. 111, No. 16-17, August 2013, pp. 2399–2407", "Revue des Marais, 2007, 12 (3), pp.17-31". Only parts
with a label, or in the form 12 (3), are believed.
"""

import re

_NUMBER = r"([A-Za-z]{0,3}\d{1,5}[A-Za-z]?(?:\s?[-–/]\s?\d{1,5})?)"
_PARTS = {
    "volume": (
        rf"\bvol(?:ume|\.)?\s*{_NUMBER}",
        r"(?<![\d(])(\d{1,4})\s?\(\d{1,4}(?:[-–/]\d{1,4})?\)\s?[,.:;]?\s*(?:pp?\b|\d|$)",
    ),
    "issue": (
        rf"\b(?:no|nr|issue|iss|number)\b\.?\s*{_NUMBER}",
        r"(?<![\d(])\d{1,4}\s?\((\d{1,4}(?:[-–/]\d{1,4})?)\)\s?[,.:;]?\s*(?:pp?\b|\d|$)",
    ),
    "pages": (r"\b(?:pp?|pages?)\b\.?\s*([A-Za-z]{0,3}\d{1,6}\s?[-–]\s?[A-Za-z]{0,3}\d{1,6})",),
    "first_page": (r"\b(?:pp?|pages?)\b\.?\s*([A-Za-z]{0,3}\d{1,6})",),
}
_PATTERNS = {part: [re.compile(form, re.IGNORECASE) for form in forms] for part, forms in _PARTS.items()}
MAX_CHARACTERS = 2000


def part(text: str, name: str) -> str | None:
    """The volume, issue, pages or first_page that a citation names."""
    if " " not in text or len(text) > MAX_CHARACTERS:
        return None
    return next((found[1] for form in _PATTERNS[name] if (found := form.search(text))), None)

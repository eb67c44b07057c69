"""Languages as pages name them → ISO 639-1: tags, three-letter codes, English names and the languages' own names."""

import re
from functools import lru_cache

from sandcrawler.extract.text import tidy

_CODES = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee
    el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is
    it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms
    mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk
    sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi
    yo za zh zu
"""
ISO_639_1 = frozenset(_CODES.split())
OLD_CODES = {"iw": "he", "in": "id", "ji": "yi", "jp": "ja", "cn": "zh", "cz": "cs", "sp": "es", "gr": "el", "ua": "uk"}
LANGUAGE_NAMES = {
    name: code
    for code, all_names in {
        "en": "english inglés ingles inglês anglais englisch inglese",
        "es": "spanish español espanol castellano espanhol espagnol spanisch",
        "pt": "portuguese português portugues portugués portugiesisch",
        "fr": "french français francais francés francês französisch",
        "de": "german deutsch alemán allemand",
        "it": "italian italiano italienisch",
        "ru": "russian русский russisch",
        "zh": "chinese 中文 汉语 漢語 简体中文 繁體中文",
        "ja": "japanese 日本語",
        "ko": "korean 한국어",
        "ar": "arabic العربية",
        "fa": "persian farsi فارسی",
        "tr": "turkish türkçe turkce",
        "pl": "polish polski",
        "uk": "ukrainian українська",
        "cs": "czech čeština česky",
        "sk": "slovak slovenčina",
        "nl": "dutch nederlands flemish",
        "sv": "swedish svenska",
        "no": "norwegian norsk",
        "da": "danish dansk",
        "fi": "finnish suomi",
        "hu": "hungarian magyar",
        "ro": "romanian română",
        "bg": "bulgarian български",
        "sr": "serbian српски srpski",
        "hr": "croatian hrvatski",
        "sl": "slovenian slovene slovenščina",
        "el": "greek ελληνικά",
        "he": "hebrew עברית",
        "hi": "hindi हिन्दी",
        "id": "indonesian indonesia",
        "ms": "malay melayu",
        "vi": "vietnamese",
        "th": "thai ไทย",
        "ca": "catalan català",
        "eu": "basque euskara",
        "gl": "galician galego",
        "lt": "lithuanian lietuvių",
        "lv": "latvian latviešu",
        "et": "estonian eesti",
        "la": "latin",
        "af": "afrikaans",
    }.items()
    for name in all_names.split()
}
LANGUAGE_NAMES |= {"bahasa indonesia": "id", "bahasa melayu": "ms", "tiếng việt": "vi"}


@lru_cache(maxsize=1024)
def language(text: str) -> str | None:
    """The ISO 639-1 code of a tag or a name: "en-US", "eng", "English", "zh_CN" → two letters."""
    plain = re.split(r"[;,|]", tidy(text).lower().replace("_", "-"))[0].strip()
    plain = plain.rpartition("/")[2]  # lexvo.org/id/iso639-3/eng
    primary = plain.partition("-")[0]
    if len(primary) == 2:
        return primary if primary in ISO_639_1 else OLD_CODES.get(primary)
    if len(primary) == 3 and primary.isascii() and primary.isalpha():
        return _three_letters(primary)
    return LANGUAGE_NAMES.get(plain.partition(" (")[0])


def _three_letters(code: str) -> str | None:
    import langcodes  # noqa: PLC0415  (0.07 s that few documents need)

    try:
        found = langcodes.Language.get(code).language
    except ValueError:  # LanguageTagError is one
        return None
    return found if found in ISO_639_1 else None

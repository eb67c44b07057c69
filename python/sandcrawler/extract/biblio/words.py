"""What words mean in a bibliography: types, stages, languages, and what stands where nothing was known."""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[str]:
    return frozenset(phrase.strip() for phrase in text.split("|"))


# fatcat's release type (CSL's, or more) ← what a page says of its own type (lower case, after the last slash).
_TYPE_WORDS = {
    "article-journal": "research article"
    "|original article|original paper|originalpaper|original research|journal article"
    "|text.serial.journal|research paper|case report|short communication|brief communication"
    "|peer-reviewed article"
    "|articles|artículo|artigo|medicalscholarlyarticle"
    "|study protocol|research-article|brief report|rapid communication",
    "review": "review|review article|reviewpaper|review paper|systematic review|review-article",
    "review-book": "book review|book-review",
    "editorial": "editorial|editorial material|editorialnotes",
    "letter": "letter|letter to the editor|correspondence",
    "paper-conference": "conference paper|conference item|conference_item|conferenceobject|conference object"
    "|conference or workshop item|inproceedings|proceeding|proceedings paper|conferencepaper|conference proceeding",
    "thesis": "thesis|doctoralthesis|masterthesis|bachelorthesis|dissertation|doctoral thesis|master thesis|phd"
    "|masters thesis|electronic thesis or dissertation|phd thesis|doctoral dissertation",
    "chapter": "book section|book_section|bookpart|book chapter|chapter|bookitem",
    "book": "book|monograph",
    "dataset": "dataset|data set|datadownload|research data",
    "report": "report|technical report|tech report|techreport|working paper|workingpaper",
    "software": "software|softwaresourcecode|computer program",
    "article": "preprint|submitted manuscript|e-print",
    "post-weblog": "blogposting|blog post",
    "article-newspaper": "newsarticle|reportagenewsarticle",
}
TYPES: Mapping[str, str] = {word: kind for kind, words in _TYPE_WORDS.items() for word in words.split("|")}

# fatcat's release stage by what a page says of it.
STAGES: Mapping[str, str] = {
    "pub": "published",
    "inpress": "accepted",
    "submitted": "submitted",
    "unpub": "draft",
    "publishedversion": "published",
    "acceptedversion": "accepted",
    "submittedversion": "submitted",
    "draft": "draft",
    "preprint": "submitted",
    "updatedversion": "updated",
}
# Containers that hold what has not been reviewed yet (letters and digits only).
PREPRINT_SERVERS = _words(
    "arxiv biorxiv medrxiv chemrxiv psyarxiv socarxiv engrxiv eartharxiv edarxiv techrxiv africarxiv bodoarxiv"
    " paleorxiv sportrxiv agrixiv lawarxiv vixra authorea ssrn ssrnelectronicjournal preprints preprintsorg"
    " osfpreprints researchsquare researchsquareplatform peerjpreprints scielopreprints qeios cogprints repec"
)

# What stands where nothing was known (lower case).
PLACEHOLDERS = _phrases(
    "null|undefined|none|n/a|nan|nil|untitled|-|--|---|?|unknown|tbd|todo|(none)|[none]|[object object]|not available"
    "|untitled document|no title|[no title]|[untitled]|missing title|default title|n.d.|s.n.|[s.n.]|s.l.|(null)"
)
# Titles of documents that say nothing of the article.
IDLE_TITLES = _phrases(
    "home|homepage|home page|index|new page 1|article|view article|full text|fulltext|abstract|document|default"
    "|welcome|login|log in|html|page|layout 1|view|view of|article view|pdf|404|error"
)
# "Authors" that are a content system's accounts.
ACCOUNTS = _phrases(
    "admin|administrator|super user|webmaster|author|authors|user|root|editor|guest|staff|anonymous|unknown|system"
    "|sysadmin|webadmin|site admin|null|none|n/a"
)

ISO_639_1 = _words(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee"
    " el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is"
    " it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms"
    " mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk"
    " sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi"
    " yo za zh zu"
)
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

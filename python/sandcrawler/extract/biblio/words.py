"""What words mean in a bibliography: types, stages, and what stands where nothing was known."""

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

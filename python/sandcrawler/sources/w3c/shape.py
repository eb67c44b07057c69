"""The shape of a bibliographic record, as a table: which key of the map is which element of the XML.

A `Part` is one key and its element. Its value is a text (`text` is ""), a map whose text stands under one key
(`text` names it), or a map of further parts; `many` makes a list of it. `attributes` pairs keys with XML attributes.
`order` is the order of keys in a record; the children stand in the order of the XML.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """One key of a record and its element."""

    key: str
    tag: str
    many: bool = False
    text: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    children: "tuple[Part, ...]" = ()
    order: tuple[str, ...] = field(default=())

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its map, in a record's order."""
        own = tuple(key for key, _ in self.attributes) + ((self.text,) if self.text else ())
        return self.order or own + tuple(child.key for child in self.children)


LOCALIZED = (("language", "language"), ("script", "script"), ("type", "type"))
TYPE = (("type", "type"),)


def word(key: str, tag: str = "", many: bool = False) -> Part:
    """A key whose value is the element's text itself."""
    return Part(key, tag or key, many, text="")


def content(key: str, tag: str = "", many: bool = False, attributes: tuple[tuple[str, str], ...] = ()) -> Part:
    """A key whose map holds the element's text under `content`."""
    return Part(key, tag or key, many, text="content", attributes=attributes)


ORGANIZATION = Part(
    "organization",
    "organization",
    children=(
        content("name", many=True, attributes=LOCALIZED),
        Part("subdivision", "subdivision", many=True, attributes=TYPE, order=("name", "type"), children=(
            content("name", many=True, attributes=LOCALIZED),
        )),
        content("abbreviation", attributes=LOCALIZED),
        content("uri", many=True, attributes=TYPE),
    ),
    order=("uri", "name", "subdivision", "abbreviation"),
)  # fmt: skip
PERSON = Part(
    "person",
    "person",
    children=(
        Part("name", "name", children=(
            content("forename", many=True, attributes=LOCALIZED),
            content("surname", attributes=LOCALIZED),
            content("completename", attributes=LOCALIZED),
        )),
        Part("affiliation", "affiliation", many=True, children=(ORGANIZATION,)),
    ),
)  # fmt: skip
CONTRIBUTOR = Part(
    "contributor",
    "contributor",
    many=True,
    children=(
        Part("role", "role", many=True, attributes=TYPE, children=(content("description", many=True),)),
        PERSON,
        ORGANIZATION,
    ),
)
EXT = Part(
    "ext",
    "ext",
    attributes=(("schema_version", "schema-version"),),
    children=(content("doctype"), word("flavor")),
)

# A relation's target is a record again: `bibitem` below stands for the whole table.
RELATION = Part(
    "relation",
    "relation",
    many=True,
    attributes=TYPE,
    children=(content("description"), Part("bibitem", "bibitem")),
)

FIELDS = (
    word("fetched"),
    content("formattedref"),
    content("title", many=True, attributes=LOCALIZED),
    content("source", "uri", many=True, attributes=TYPE),
    Part("docidentifier", "docidentifier", many=True, text="content",
         attributes=(("type", "type"), ("primary", "primary")), order=("content", "type", "primary")),
    word("docnumber"),
    Part("date", "date", many=True, attributes=TYPE, children=(word("at", "on"), word("from"), word("to"))),
    CONTRIBUTOR,
    word("language", many=True),
    word("script", many=True),
    content("abstract", many=True, attributes=LOCALIZED),
    Part("status", "status", children=(content("stage"),)),
    RELATION,
    Part("series", "series", many=True, children=(content("title", many=True, attributes=LOCALIZED), word("number"))),
    Part("keyword", "keyword", many=True, children=(content("vocab", attributes=LOCALIZED),)),
)  # fmt: skip

ORDER = (
    "id", "schema_version", "type", "fetched", "formattedref", "title", "source", "docidentifier", "docnumber", "date",
    "contributor", "language", "script", "abstract", "status", "relation", "series", "keyword", "ext",
)  # fmt: skip
HEAD = (("type", "type"), ("schema_version", "schema-version"))

# The whole record: `bibdata` has `ext` and no id, a `bibitem` an id and no `ext`.
BIBDATA = Part("bibdata", "bibdata", attributes=HEAD, children=(*FIELDS, EXT), order=ORDER)
BIBITEM = Part("bibitem", "bibitem", attributes=(("id", "id"), *HEAD), children=FIELDS, order=ORDER)
ROOTS = {part.tag: part for part in (BIBDATA, BIBITEM)}

"""Pages for the tests of scope, links, resources and full text: own prose, put together as sites put theirs."""

SENTENCES = (
    "Coastal colonies were counted on foot every spring, and each nest was recorded once with its position.",
    "The counts were repeated by a second team two days later so that missed nests could be estimated.",
    "Numbers fell by a third in the first four seasons and then held steady until the end of the study.",
    "Fencing kept foxes away from the lower beach but had no effect on losses to storms in late summer.",
    "Most of the late clutches were taken by the sea, and the birds that lost them did not try again.",
    "Where the marram grass was tall, chicks hid well and were seldom taken by gulls or by passing crows.",
    "A warden walked the tide line at dawn and moved eggs that lay below the mark of the spring tide.",
    "The birds came back to the same stretch of sand in nine years of ten, whatever had happened before.",
)


def prose(words: int) -> str:
    """At least so many words of running text, in paragraphs of about fifty words."""
    made, paragraphs, count, index = [], [], 0, 0
    while count < words:
        sentence = SENTENCES[index % len(SENTENCES)]
        made.append(sentence)
        count, index = count + len(sentence.split()), index + 1
        if index % 3 == 0:
            paragraphs.append(" ".join(made))
            made = []
    return "".join(f"<p>{text}</p>" for text in [*paragraphs, *([" ".join(made)] if made else [])])


def sections(*headings: str, words: int = 200, level: int = 2) -> str:
    """Sections of an article, each with its heading and text."""
    return "".join(f"<h{level}>{heading}</h{level}>{prose(words)}" for heading in headings)


def references(count: int) -> str:
    """A list of references under its heading."""
    lines = (
        f"<li>Marek L, Novak P (20{i:02d}) Nests of the shore, part {i}. Shore Birds 3: 1-9.</li>" for i in range(count)
    )
    return f"<h2>References</h2><ol class='ref-list'>{''.join(lines)}</ol>"


def metas(**more: str) -> str:
    """Highwire metas of an article, and more of them by name."""
    known = {"title": "Nests above the tide line", "author": "Lena Marek", "journal_title": "Shore Birds", **more}
    return "".join(f'<meta name="citation_{name}" content="{value}">' for name, value in known.items())


def page(body: str, head: str = "", title: str = "Nests above the tide line", html: str = "") -> bytes:
    """A whole page with a site's menu and footer around its body."""
    menu = (
        "<nav><ul>" + "".join(f"<li><a href='/{n}'>{n}</a></li>" for n in ("Home", "Issues", "Authors")) + "</ul></nav>"
    )
    footer = "<footer><p>Published by the Society of the Shore. All content is open.</p></footer>"
    return (
        f"<!DOCTYPE html><html {html}><head><meta charset='utf-8'><title>{title}</title>{head}</head>"
        f"<body>{menu}{body}{footer}</body></html>"
    ).encode()


ABSTRACT = f"<section class='abstract'><h2>Abstract</h2>{prose(150)}</section>"
HEADLINE = "<h1>Nests above the tide line</h1>"

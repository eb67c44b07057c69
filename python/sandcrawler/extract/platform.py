"""What software or service made a page: a table of signs, the first that is found wins.

Signs are read in four places: the `generator` metas, the page's URL, the URLs of its scripts and style sheets, and
id and class of <html>, <body> and what marks a platform by its own element names.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sandcrawler.extract.document import Document
from sandcrawler.extract.xpath import strings

_ASSETS = strings("//script/@src | //link/@href | //img/@src")
_MARKS = strings("/html/@class | /html/@id | /html/body/@class | /html/body/@id | //a[@id='developedBy']/@id")


class Sign(NamedTuple):
    """`place`: generator, url, assets, marks or metas (their names). `pattern` is searched, case does not matter."""

    platform: str
    place: str
    pattern: str


SIGNS: tuple[Sign, ...] = (
    Sign("ojs3", "generator", r"open journal systems 3"),
    Sign("ops", "generator", r"open preprint systems"),
    Sign("omp", "generator", r"open monograph press"),
    Sign("ojs", "generator", r"open journal systems"),
    Sign("ojs3", "marks", r"pkp_page_|pkp_op_"),
    Sign("ojs", "marks", r"pkp-common-openjournalsystems|developedby"),
    Sign("mediawiki", "generator", r"mediawiki"),
    Sign("dokuwiki", "generator", r"dokuwiki"),
    Sign("arpha", "assets", r"arphahub|/arpha/"),
    Sign("arpha", "url", r"//[^/]*(?:pensoft\.net|arphahub\.com|riojournal\.com|arphapreprints\.com)/"),
    Sign("scielo", "url", r"//[^/]*scielo[^/]*/|scielo\.php"),
    Sign("scielo", "assets", r"scielo\.org/|ssm\.scielo"),
    Sign("redalyc", "url", r"//[^/]*redalyc\.org/"),
    Sign("pubpub", "assets", r"pubpub\.org"),
    Sign("pubpub", "url", r"//[^/]*\.pubpub\.org/"),
    Sign("distill", "assets", r"distill\.pub/template|distillpub|distill-template"),
    Sign("distill", "url", r"//distill\.pub/"),
    Sign("highwire", "assets", r"/highwire/|highwire\.org|/jcore/"),
    Sign("highwire", "marks", r"hw-|page-content-[a-z0-9]+-v?\d"),
    Sign("literatum", "assets", r"/releasedassets/pb/|/pb-assets/|/templates/jsp/_style\d"),
    Sign("literatum", "marks", r"\bpb-ui\b"),
    Sign("silverchair", "assets", r"silverchair-cdn\.com|/ui/app/(?:js|css)/|sigma.*silverchair"),
    Sign("springer", "url", r"//(?:link\.springer\.com|www\.nature\.com|[^/]*\.(?:biomedcentral|springeropen)\.com)/"),
    Sign("springer", "assets", r"/oscar-static/"),
    Sign("ingenta", "assets", r"ingentaconnect|/docserver/"),
    Sign("pmc", "url", r"//(?:pmc\.ncbi\.nlm\.nih\.gov/|(?:www\.)?ncbi\.nlm\.nih\.gov/pmc/|europepmc\.org/)"),
    Sign("pubmed", "url", r"//pubmed\.ncbi\.nlm\.nih\.gov/"),
    Sign("plos", "url", r"//journals\.plos\.org/"),
    Sign("peerj", "url", r"//peerj\.com/"),
    Sign("mdpi", "url", r"//(?:www\.)?mdpi\.com/"),
    Sign("frontiers", "url", r"//(?:www\.)?frontiersin\.org/"),
    Sign("hindawi", "url", r"//(?:www\.|onlinelibrary\.)?hindawi\.com/"),
    Sign("sciencedirect", "url", r"//(?:www\.)?sciencedirect\.com/"),
    Sign("jstage", "url", r"//(?:www\.)?jstage\.jst\.go\.jp/"),
    Sign("dergipark", "url", r"//dergipark\.(?:org|gov)\.tr/"),
    Sign("cyberleninka", "url", r"//cyberleninka\.ru/"),
    Sign("openedition", "url", r"//[^/]*openedition\.org/|//journals\.openedition\.org/"),
    Sign("openedition", "generator", r"lodel"),
    Sign("erudit", "url", r"//[^/]*erudit\.org/"),
    Sign("persee", "url", r"//[^/]*persee\.fr/"),
    Sign("cairn", "url", r"//[^/]*cairn(?:-[a-z]+)?\.info/"),
    Sign("arxiv", "url", r"//(?:export\.)?arxiv\.org/abs/"),
    Sign("ssrn", "url", r"//papers\.ssrn\.com/"),
    Sign("acl-anthology", "url", r"//(?:www\.)?aclanthology\.(?:org|info)/|//aclweb\.org/anthology/"),
    Sign("zenodo", "url", r"//(?:www\.)?zenodo\.org/"),
    Sign("figshare", "url", r"//[^/]*figshare\.com/"),
    Sign("figshare", "assets", r"figshare\.com/static|websitev3-p-eu\.figstatic"),
    Sign("dryad", "url", r"//(?:www\.)?datadryad\.org/"),
    Sign("osf", "url", r"//osf\.io/"),
    Sign("pangaea", "url", r"//doi\.pangaea\.de/|//www\.pangaea\.de/"),
    Sign("dataverse", "assets", r"dataverse|javax\.faces\.resource/.*dataverse"),
    Sign("ckan", "generator", r"\bckan\b"),
    Sign("hal", "url", r"//[^/]*(?:archives-ouvertes\.fr|hal\.science|hal\.inria\.fr|hal\.inrae\.fr)/"),
    Sign("dspace", "generator", r"dspace"),
    Sign("dspace", "assets", r"/xmlui/|/themes/mirage|/jspui/"),
    Sign("dspace", "url", r"/(?:xmlui|jspui)/handle/|/handle/\d+(?:\.\d+)*/\w+"),
    Sign("eprints", "generator", r"eprints"),
    Sign("eprints", "metas", r"^eprints\."),
    Sign("digital-commons", "metas", r"^bepress_citation"),
    Sign("elsevier-pure", "generator", r"\bpure\b"),
    Sign(
        "elsevier-pure", "url", r"/portal/[a-z]{2}/publications/|/[a-z]{2}/publications/[a-z0-9-]+(?:$|/fingerprints)"
    ),
    Sign("invenio", "generator", r"invenio"),
    Sign("islandora", "assets", r"islandora"),
    Sign("samvera", "assets", r"/assets/(?:hyrax|sufia)"),
    Sign("mycore", "generator", r"mycore"),
    Sign("opus", "generator", r"\bopus\b"),
    Sign("janeway", "generator", r"janeway"),
    Sign("janeway", "assets", r"/static/(?:olh|material|clean)/(?:js|css)/"),
    Sign("scholastica", "assets", r"scholasticahq"),
    Sign("ubiquity", "assets", r"ubiquity-partner-network|ubiquitypress"),
    Sign("index-copernicus", "assets", r"indexcopernicus|journalssystem\.com"),
    Sign("index-copernicus", "url", r"//[^/]*journalssystem\.com/"),
    Sign("galenos", "assets", r"galenos(?:yayinevi|\.com\.tr)"),
    Sign("plone", "generator", r"plone"),
    Sign("plone", "assets", r"\+\+(?:resource|plone|theme)\+\+|/portal_(?:css|javascripts)/"),
    Sign("drupal", "generator", r"drupal"),
    Sign("drupal", "assets", r"/sites/(?:all|default)/(?:modules|themes|files)/|/core/misc/drupal\.js"),
    Sign("joomla", "generator", r"joomla"),
    Sign("joomla", "assets", r"/media/(?:jui|system/js)/|/components/com_"),
    Sign("wordpress", "generator", r"wordpress"),
    Sign("wordpress", "assets", r"/wp-(?:content|includes)/"),
    Sign("blogger", "generator", r"blogger"),
    Sign("blogger", "url", r"//[^/]*\.blogspot\.[a-z.]+/"),
    Sign("ghost", "generator", r"\bghost\b"),
    Sign("medium", "url", r"//(?:[^/]+\.)?medium\.com/"),
    Sign("medium", "assets", r"cdn-client\.medium\.com"),
    Sign("substack", "assets", r"substackcdn\.com"),
    Sign("squarespace", "assets", r"static1?\.squarespace\.com"),
    Sign("wix", "generator", r"wix\.com"),
    Sign("quarto", "generator", r"quarto"),
    Sign("hugo", "generator", r"\bhugo\b"),
    Sign("jekyll", "generator", r"jekyll"),
    Sign("typo3", "generator", r"typo3"),
)
_COMPILED = tuple((sign.platform, sign.place, re.compile(sign.pattern, re.MULTILINE)) for sign in SIGNS)
_PLACES: Mapping[str, Callable[[Document], str]] = {
    "generator": lambda page: "\n".join(meta.content for meta in page.metas if meta.name == "generator"),
    "url": lambda page: page.url,
    "assets": lambda page: "\n".join(_ASSETS(page.root)),
    "marks": lambda page: "\n".join(_MARKS(page.root)),
    "metas": lambda page: "\n".join(meta.name for meta in page.metas),
}


def find_platform(document: Document) -> str | None:
    """The platform's name, None where no sign is known."""
    seen = {place: read(document).lower() for place, read in _PLACES.items()}
    return next((platform for platform, place, pattern in _COMPILED if pattern.search(seen[place])), None)

"""The words that pages use for their parts, in the languages of most journals: headings, class names, buttons.

Every table here is data: add a word, run the cases.
"""

import re
from enum import Enum
from functools import lru_cache

from lxml.etree import _Element


class Zone(Enum):
    """What a part of a page is, as far as telling a full text from other pages needs it."""

    BODY = "body"
    ABSTRACT = "abstract"
    CAPTION = "caption"
    REFERENCES = "references"
    CHROME = "chrome"


ABSTRACT = """abstract
abstracts
summary
resumen
resumo
résumé
resume
zusammenfassung
kurzfassung
riassunto
sommario
sammanfattning
sammendrag
samenvatting
streszczenie
abstrakt
abstrak
özet
öz
аннотация
резюме
реферат
анотація
摘要
抄録
要旨
초록
چکیده
الملخص
ملخص
significance
highlights
graphical abstract
visual abstract
plain language summary
lay summary
popular summary
editor's summary
elife digest
digest
author summary"""

REFERENCES = """references
reference list
references and notes
references & notes
references cited
literature cited
bibliography
works cited
cited works
notes and references
notes
endnotes
footnotes
literature
literatur
literaturverzeichnis
bibliographie
références
références bibliographiques
referencias
referencias bibliográficas
bibliografía
referências
referências bibliográficas
bibliografia
riferimenti bibliografici
literatura
piśmiennictwo
kaynaklar
kaynakça
litteratur
referenser
referanser
daftar pustaka
список литературы
литература
список использованных источников
література
参考文献
引用文献
참고문헌
المراجع
منابع
citations
cited by
citing articles"""

CHROME = """related articles
related content
related papers
recommended articles
recommended reading
similar articles
most read
most cited
trending
trending articles
latest articles
about this journal
about the journal
information for authors
for authors
for readers
for librarians
navigation
main menu
menu
share
share this article
sections
article metrics
metrics
article tools
comments
leave a comment
leave a reply
subscribe
newsletter
follow us
contact
contact us
cookie policy
cookie settings
we value your privacy
how to cite
cite this article
browse
search
login
sign in
user
language
make a submission"""

# Headings of an article's own sections, by their kind: a full text has several kinds.
SECTIONS = {
    "introduction": """introduction
background
background and objectives
introduction and background
motivation
overview
einleitung
einführung
introducción
introdução
introduzione
inleiding
inledning
innledning
indledning
johdanto
wstęp
wprowadzenie
úvod
giriş
pendahuluan
uvod
introducere
bevezetés
введение
вступ
актуальность
引言
绪论
前言
緒言
はじめに
서론
مقدمه
المقدمة
مقدمة""",
    "methods": """methods
method
methodology
materials and methods
material and methods
methods and materials
materials & methods
patients and methods
subjects and methods
experimental
experimental section
experimental procedures
experimental setup
model
the model
data
data and methods
study design
research methods
methoden
methodik
material und methoden
métodos
metodología
materiales y métodos
material y métodos
metodologia
materiais e métodos
material e métodos
méthodes
méthode
méthodologie
matériel et méthodes
matériels et méthodes
metodi
materiali e metodi
metode
metode penelitian
metody
materiał i metody
gereç ve yöntem
yöntem
materyal ve metot
материалы и методы
материал и методы
методы
методология
方法
材料与方法
対象と方法
연구 방법
روش
case report
case presentation
case description""",
    "results": """results
result
findings
results and discussion
results & discussion
main results
experiments
experimental results
evaluation
analysis
ergebnisse
resultados
resultados y discusión
resultados e discussão
résultats
résultats et discussion
risultati
hasil
hasil dan pembahasan
wyniki
bulgular
výsledky
rezultati
результаты
результаты и обсуждение
результаты исследования
结果
结果与讨论
結果
결과
نتایج
النتائج""",
    "discussion": """discussion
discussion and conclusion
discussion and conclusions
general discussion
diskussion
discusión
discussão
discussione
discussie
pembahasan
dyskusja
tartışma
tartışma ve sonuç
diskuse
rasprava
обсуждение
讨论
討論
考察
논의
고찰
بحث""",
    "conclusion": """conclusion
conclusions
concluding remarks
conclusions and future work
conclusion and future work
summary and conclusion
summary and conclusions
limitations
future work
outlook
fazit
schlussfolgerung
schlussfolgerungen
ausblick
conclusión
conclusiones
conclusão
conclusões
considerações finais
consideraciones finales
conclusioni
conclusie
kesimpulan
simpulan
wnioski
zakończenie
podsumowanie
sonuç
sonuçlar
závěr
zaključak
заключение
выводы
висновки
结论
結論
おわりに
결론
نتیجه گیری
الخاتمة""",
    "back": """acknowledgements
acknowledgments
acknowledgement
acknowledgment
author contributions
authors' contributions
competing interests
conflict of interest
conflicts of interest
declaration of competing interest
declaration of interest
funding
funding statement
data availability
data availability statement
availability of data and materials
abbreviations
appendix
danksagung
agradecimientos
agradecimentos
remerciements
ringraziamenti
podziękowania
teşekkür
благодарности
конфликт интересов
致谢
謝辞
感谢
감사의 글""",
}

_NUMBER = re.compile(r"^(?:§\s*)?(?:\d{1,2}(?:\.\d{1,2})*|[ivx]{1,5}|[a-h])[.):\s]+\s*(?=\w)", re.IGNORECASE)
_HEADING_ZONES = (
    (Zone.ABSTRACT, frozenset(ABSTRACT.split("\n"))),
    (Zone.REFERENCES, frozenset(REFERENCES.split("\n"))),
    (Zone.CHROME, frozenset(CHROME.split("\n"))),
)
_SECTION_KINDS = {word: kind for kind, words in SECTIONS.items() for word in words.split("\n")}

_OPENING = r"(?:^|[\s_-]|(?<=[a-z])(?=[A-Z]))"
_CLOSING = r"(?=$|[\s_-]|[A-Z0-9])"
# Class and id names, as tokens: hlFld-Abstract, abstractSection, ref-list, fig-caption, cookie-banner.
_NAMED_ZONES = (
    (Zone.ABSTRACT, r"[Aa]bstracts?|ABSTRACT|[Rr]esumen|[Rr]esumo|[Zz]usammenfassung|popular-summary|[Hh]ighlights"),
    (
        Zone.REFERENCES,
        r"[Rr]eferences?|[Rr]ef-?[Ll]ist|[Rr]eflist|[Bb]ibliography|[Cc]itations|[Ff]ootnotes|[Ee]ndnotes",
    ),
    (Zone.CAPTION, r"[Cc]aptions?|[Ff]igcaption|[Ff]igures?|[Ff]ig|thumbcaption|[Tt]able-?[Ww]rap|[Ll]egend"),
    (
        Zone.CHROME,
        (
            r"nav|navbar|navigation|menus?|breadcrumbs?|footer|sidebars?|[Cc]ookies?|consent|gdpr|modal|popup|dialog|"
            r"toolbar|share|social|related|recommend(?:ed|ations?)|metrics|login|search|newsletter|advert(?:isement)?|"
            r"comments|respond|disqus|masthead|site-?[Hh]eader|banner|noprint|journal-info|about-journal"
        ),
    ),
)
_NAMED = tuple((zone, re.compile(_OPENING + f"(?:{names})" + _CLOSING)) for zone, names in _NAMED_ZONES)
# Names of the whole page's layout say nothing of one part: "has-sidebar", "page-article-abstract", "two-sidebars".
_LAYOUT = re.compile(r"\b(?:has|with|no|without|is|not|two|one|page|layout|col|template|logged|context)[-_]\S*")
_ROLES = {
    "navigation": Zone.CHROME,
    "banner": Zone.CHROME,
    "contentinfo": Zone.CHROME,
    "complementary": Zone.CHROME,
    "search": Zone.CHROME,
    "dialog": Zone.CHROME,
    "alertdialog": Zone.CHROME,
    "menu": Zone.CHROME,
    "doc-abstract": Zone.ABSTRACT,
    "doc-bibliography": Zone.REFERENCES,
    "doc-endnotes": Zone.REFERENCES,
}
# Elements whose names are asked for a zone.
CONTAINERS = frozenset({"div", "section", "ul", "ol", "dl", "table", "td", "p", "li", "details", "header"})


def heading_key(text: str) -> str:
    """A heading as it stands in the tables: lower case, without its number and final punctuation."""
    return _NUMBER.sub("", text.strip().lower(), count=1).strip(" .:*–—-")


def heading_zone(text: str) -> Zone | None:
    """The zone that a heading opens; BODY for an article's own sections, None where the words are not known."""
    key = heading_key(text)
    if key in _SECTION_KINDS:
        return Zone.BODY
    return next((zone for zone, words in _HEADING_ZONES if key in words), None)


def section_kind(text: str) -> str | None:
    """The kind of an article's section (introduction, methods, …), None where the words are not known."""
    return _SECTION_KINDS.get(heading_key(text))


def named_zone(element: _Element) -> Zone | None:
    """The zone that an element opens by its role, class or id."""
    role = element.get("role")
    if role and role in _ROLES:
        return _ROLES[role]
    name = f"{element.get('class') or ''} {element.get('id') or ''}"
    if len(name) < 3 or len(name) > 500:
        return None
    zone = _zone_of_name(name)
    # What holds the page's main heading is no menu, whatever it is called.
    return None if zone is Zone.CHROME and next(element.iter("h1", "article", "main"), None) is not None else zone


@lru_cache(maxsize=4096)
def _zone_of_name(name: str) -> Zone | None:
    name = _LAYOUT.sub("", name)
    return next((zone for zone, pattern in _NAMED if pattern.search(name)), None)

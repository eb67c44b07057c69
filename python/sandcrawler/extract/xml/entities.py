"""Names of characters: what `&alpha;` means where only a DTD that nobody reads would say so.

Python's table of HTML names is the W3C's "XML Entity Definitions for Characters": ISO 8879 and ISO 9573-13, MathML and
XHTML, so also what the JATS and NLM DTDs declare. It lacks the sets that HTML left out; these follow patterns (ISOgrk1,
ISOgrk2, ISOgrk4), and a few older spellings. Source of the code points: Unicode's names, W3C's isogrk*.ent.
"""

import html.entities
import unicodedata
from functools import cache

PREDEFINED = frozenset({"amp", "lt", "gt", "quot", "apos"})

# ISOgrk1: the Greek alphabet by the letter that transcribes it, small and capital.
_GREEK = {
    "a": "ALPHA", "b": "BETA", "g": "GAMMA", "d": "DELTA", "e": "EPSILON", "z": "ZETA", "ee": "ETA", "th": "THETA",
    "i": "IOTA", "k": "KAPPA", "l": "LAMDA", "m": "MU", "n": "NU", "x": "XI", "o": "OMICRON", "p": "PI", "r": "RHO",
    "s": "SIGMA", "t": "TAU", "u": "UPSILON", "ph": "PHI", "kh": "CHI", "ps": "PSI", "oh": "OMEGA",
}  # fmt: skip
# ISOgrk2: accented vowels.
_ACCENTS = {"acgr": " WITH TONOS", "digr": " WITH DIALYTIKA"}
# ISOgrk4: bold Greek, `b.alpha`, by the names of Unicode's mathematical alphanumeric symbols.
_BOLD = {
    "alpha": "ALPHA", "beta": "BETA", "gamma": "GAMMA", "delta": "DELTA", "epsi": "EPSILON", "zeta": "ZETA",
    "eta": "ETA", "thetas": "THETA", "iota": "IOTA", "kappa": "KAPPA", "lambda": "LAMDA", "mu": "MU", "nu": "NU",
    "xi": "XI", "pi": "PI", "rho": "RHO", "sigma": "SIGMA", "sigmav": "FINAL SIGMA", "tau": "TAU", "upsi": "UPSILON",
    "phi": "PHI", "chi": "CHI", "psi": "PSI", "omega": "OMEGA", "gammad": "DIGAMMA",
}  # fmt: skip
_BOLD_CAPITALS = (
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsi", "Phi", "Psi", "Omega", "Gammad",
)  # fmt: skip
_BOLD_SYMBOLS = {
    "epsiv": "EPSILON", "thetav": "THETA", "kappav": "KAPPA", "phiv": "PHI", "rhov": "RHO", "piv": "PI",
}  # fmt: skip
# Spellings of ISO 8879 and MathML 1 that later sets dropped, and two accents out of pattern.
_OLDER = {
    "sfgr": 0x3C2, "idiagr": 0x390, "udiagr": 0x3B0, "jnodot": 0x237, "lpargt": 0x29A0, "rpargt": 0x2994,
    "epsis": 0x3B5, "phis": 0x3C6, "thetas": 0x3B8, "b.epsis": 0x1D6C6, "b.phis": 0x1D6D7,
}  # fmt: skip


@cache
def table() -> dict[str, str]:
    """Name → characters, without the five names that XML itself defines."""
    names = {name[:-1]: text for name, text in html.entities.html5.items() if name.endswith(";")}
    names |= _greek() | _bold() | {name: chr(point) for name, point in _OLDER.items() if name not in names}
    return {name: text for name, text in names.items() if name not in PREDEFINED}


def declaration(name: str, text: str) -> str:
    """An entity declaration of literal text; markup in the text stays text."""
    value = "".join(f"&#38;#{ord(char)};" if char in "&<" else f"&#{ord(char)};" for char in text)
    return f'<!ENTITY {name} "{value}">'


def _greek() -> dict[str, str]:
    """ISOgrk1 and ISOgrk2."""
    names = {}
    for latin, letter in _GREEK.items():
        for ending, accent in {"gr": "", **_ACCENTS}.items():
            for name, size in ((latin, "SMALL"), (latin.upper(), "CAPITAL")):
                if char := _character(f"GREEK {size} LETTER {letter}{accent}"):
                    names[name + ending] = char
    return names


def _bold() -> dict[str, str]:
    """ISOgrk4."""
    small = {f"b.{name}": _character(f"MATHEMATICAL BOLD SMALL {letter}") for name, letter in _BOLD.items()}
    symbols = {f"b.{name}": _character(f"MATHEMATICAL BOLD {letter} SYMBOL") for name, letter in _BOLD_SYMBOLS.items()}
    capitals = {
        f"b.{name}": _character(f"MATHEMATICAL BOLD CAPITAL {_BOLD.get(name.lower(), 'THETA')}")
        for name in _BOLD_CAPITALS
    }
    return {name: char for name, char in (small | symbols | capitals).items() if char}


def _character(name: str) -> str:
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return ""

"""What walls and error pages say, in the languages in which journals say it. Each is one regular expression.

They are only asked of pages with little text and no article's metadata, so an article about captchas is safe.
"""

import re


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


CAPTCHA = _any(
    r"\bcaptchas?\b",
    r"just a moment\b",
    r"checking (?:if the site connection is secure|your browser)",
    r"verif(?:y|ying) (?:that )?you are (?:a )?human",
    r"(?:are you|you are|you're) (?:a|not a) (?:robot|bot|human)",
    r"prove (?:that )?you(?:'| a)re (?:a )?human",
    r"please (?:complete|solve) the (?:security check|challenge|puzzle)",
    r"security (?:check|verification)\b",
    r"unusual (?:traffic|activity|number of requests)",
    r"pardon our interruption",
    r"access to this page has been denied because we believe you are using automation",
    r"please enable js and disable any ad blocker",
    r"ddos protection by",
    r"request unsuccessful\. incapsula",
    r"human verification",
    r"bitte bestätigen sie, dass sie kein roboter sind",
    r"je ne suis pas un robot",
    r"no soy un robot",
    r"验证码|安全验证|人机验证",
)
# Scripts and frames that only a challenge page loads; `captcha` alone also stands in comment forms.
CHALLENGE_MARKS = _any(
    r"/cdn-cgi/challenge-platform/",
    r"challenges\.cloudflare\.com/",
    r"cf-browser-verification|cf_chl_opt|cf-challenge",
    r"_incapsula_resource",
    r"captcha-delivery\.com",
    r"px-captcha|perimeterx|/_pxhc?/",
    r"perfdrive\.com|shieldsquare",
    r"awswaf\.com|aws-waf-captcha",
    r"/_sec/cp_challenge|sec-if-cpt|akamai-?bot",
    r"ddos-guard",
    r"sgcaptcha",
    r"hcaptcha\.com",
    r"/\.within\.website/|anubis_challenge",
    r"distil_r_captcha|distilnetworks",
    r"bm-verify",
)
FORBIDDEN = _any(
    r"\b403\b",
    r"\bforbidden\b",
    r"access (?:is |has been |to this (?:page|site|resource) (?:is|has been) )?(?:denied|blocked|forbidden|restricted)",
    r"you (?:have been|are) blocked",
    r"attention required!",
    r"you (?:don't|do not) have permission to (?:access|view)",
    r"(?:request|ip(?: address)?) (?:has been |was |is )?(?:rejected|blocked|banned|denied)",
    r"your (?:ip|network|access|browser) (?:address )?(?:has been|is"
    r"|was) (?:temporarily )?(?:blocked|banned|denied|suspended)",
    r"\bnot authori[sz]ed\b|\bunauthori[sz]ed\b|\b401\b",
    r"accès (?:refusé|interdit)",
    r"zugriff (?:verweigert|nicht erlaubt)",
    r"acceso (?:denegado|prohibido)",
    r"acesso (?:negado|proibido)",
    r"доступ (?:запрещ[её]н|ограничен)",
    r"访问被拒绝|禁止访问",
)
COOKIE = _any(
    r"cookies? (?:are|is|must be|need to be|should be|seem to be) (?:currently )?(?:not )?"
    r"(?:enabled|disabled|required|supported|allowed|accepted|turned o(?:n|ff)|blocked|switched o(?:n|ff))",
    r"(?:enable|accept|allow|activate|turn on|require[sd]?) (?:the use of )?(?:your )?(?:browser )?cookies",
    r"browser (?:does not|doesn't|is not|isn't|must|needs to|has to|should) (?:\w+ ){0,3}cookies",
    r"cookies? (?:absent|not supported|error|required|disabled)",
    r"cookies aktivieren|cookies (?:sind )?deaktiviert",
    r"activer les cookies|cookies sont désactivés",
    r"(?:habilit|activ)(?:e|ar) (?:las |os )?cookies",
    r"включите cookies?|разрешите cookies?",
)
CONSENT = _any(
    r"before you continue",
    r"we (?:value|care about|respect) your privacy",
    r"cookie (?:consent|preferences|settings)",
    r"\bconsent\b.{0,40}\bcookies?\b",
    r"your privacy choices",
    r"we and our (?:\d+ )?partners",
    r"bevor sie (?:zu|fortfahren)",
    r"avant d'accéder|avant de continuer",
    r"antes de continuar",
)
LOGIN = _any(
    r"\b(?:log|sign)[- ]?(?:in|on)\b",
    r"\blogin\b",
    r"\b(?:institutional|shibboleth|openathens|single sign-on|member) (?:log-?in|sign-?in|access)",
    r"\bauthentication required\b|\bauthenticate\b",
    r"find your (?:institution|organi[sz]ation)|where are you from\?",
    r"\banmelden\b|\banmeldung\b|\beinloggen\b",
    r"se connecter|\bconnexion\b|s'identifier|\bidentification\b",
    r"iniciar sesi[oó]n|inicio de sesión|\bacceder\b|\bidentif[ií]cate\b",
    r"\bentrar\b|\biniciar sessão\b|fazer login",
    r"\baccedi\b",
    r"\bzaloguj\b|\blogowanie\b|\bgiriş yap\b|\bпринудительн|\bвойти\b|\bавторизация\b|\bвход\b",
    r"登录|登錄|ログイン|로그인",
)
LOGIN_URL = re.compile(
    r"/(?:[\w-]*-)?(?:log-?in|sign-?in|sso|wayf|shibboleth|idp|authenticate|openathens|ssocore)(?:$|[/.;?_-])|"
    r"[?&]samlrequest=|[?&]target=[^&]*https?",
    re.IGNORECASE,
)
PAYWALL = _any(
    r"(?:purchase|buy|rent) (?:this |the |instant |full |online |short-?term )*(?:article|access|pdf"
    r"|chapter|issue|full text|now|paper)",
    r"(?:this is a )?preview of subscription content",
    r"you (?:do not|don't) (?:currently )?have (?:\w+ )?(?:access|a subscription|permission)",
    r"you (?:are not|have no) (?:subscribed|subscription)",
    r"(?:get|gain|request|check) (?:full |institutional |instant )?access\b",
    r"access (?:through|via|provided by) your (?:institution|organi[sz]ation|library)",
    r"(?:log|sign) in (?:via|through) (?:your |an )?(?:institution|organi[sz]ation|library)",
    r"(?:full text|content|article|access) is (?:only )?(?:available|restricted"
    r"|limited) to (?:\w+ )?(?:subscribers|members)",
    r"subscri(?:be|ption) (?:to|is|required|needed)\b",
    r"subscribers? only|members? only|for subscribers",
    r"(?:to|and) (?:continue|keep) reading",
    r"(?:article|free) (?:limit|articles? (?:left|remaining))",
    r"pay[- ]per[- ](?:view|article)",
    r"rent or buy|rent this article|deepdyve",
    r"nur für abonnenten|artikel kaufen|zugang erwerben",
    r"réservé aux abonnés|acheter (?:cet|l')article",
    r"sólo para suscriptores|comprar (?:este )?art[ií]culo|somente para assinantes",
    r"только для подписчиков|купить статью",
)
_THING = (
    r"(?:web ?)?(?:page|site|article|document|file|resource|content|doi|item|record|publication|paper|issue"
    r"|url|address)s?"
)
ERROR = _any(
    rf"\b{_THING}\b.{{0,60}}?(?:n['’]t|\bnot|\bcannot|\bnever|\bno longer) (?:be |been |to be )?"
    r"(?:found|exists?|available|located|here|displayed)\b",
    r"(?:can ?not|can['’]t|couldn['’]t|could not|unable to|failed to) (?:be )?"
    rf"(?:find|locate|found|load|display|retrieve) (?:\w+ ){{0,4}}?{_THING}",
    rf"(?:not find|no such|invalid|unknown|missing|non-?existent) {_THING}",
    r"^\s*(?:error|oops|http)?[\s:-]*(?:404|410|500|502|503)\b",
    r"\b(?:error|http|status)[ :#-]*(?:404|410|500|502|503|504)\b|\b404\b.{0,20}\b(?:error|not found|page)\b",
    r"^\s*not found\b|\bnot found\s*$",
    r"internal server error|service (?:temporarily )?unavailable|bad gateway|gateway time-?out",
    r"something (?:went|has gone) wrong|an (?:unexpected |internal |application )?error (?:has )?occurred|server error",
    r"\boops\b",
    r"(?:under|down for|site|system|scheduled) maintenance",
    r"(?:database|fatal|system|runtime|application) error|error establishing a database",
    r"page introuvable|page non trouvée|n'existe (?:pas|plus)|erreur 404|document introuvable",
    r"seite (?:wurde )?nicht gefunden|nicht gefunden|existiert nicht|fehler 404",
    r"p[áa]gina no (?:encontrada|existe)|no (?:se )?(?:ha )?(?:encontr|exist)\w*",
    r"página não (?:encontrada|existe)|não (?:foi )?encontrad\w|erro 404",
    r"pagina non trovata|pagina niet gevonden|siden (?:blev )?ikke (?:fundet|funnet)",
    r"sidan (?:kunde inte|hittades inte)",
    r"strona nie (?:została znaleziona|istnieje)|nie znaleziono|stránka nenalezena|stranica nije pronađena",
    r"sayfa bulunamadı|halaman tidak ditemukan|pagina nu a fost găsită|az oldal nem található",
    r"страница не (?:найдена|существует)|ошибка 404|документ не найден|сторінку не знайдено",
    r"页面不存在|找不到(?:页面|網頁|网页)|ページが見つかりません",
    r"페이지를 찾을 수 없습니다|الصفحة غير موجودة|صفحه یافت نشد",
)
ERROR_URL = re.compile(r"/(?:404|410|500|error|errors|notfound|not-found|page-not-found)(?:$|[/.?])", re.IGNORECASE)
SCRIPT_NEEDED = _any(
    r"(?:enable|need|requires?|turn on|activate) java ?script", r"javascript (?:is )?(?:disabled|required)"
)

# ruff: noqa: E501  (a table of texts, one a line)
"""What tickets about one subject may tell: that it fails, that it is wrong, that it is slow, wished for, asked about, bought.

``{w}`` is the part of the product: the same parts stand in texts of every kind, so that the subject decides nothing. ``spin``
resolves the other braces.
"""

from __future__ import annotations

# area -> (the part as a noun phrase, the area as it stands in a subject line, the team it sounds like)
AREAS: dict[str, tuple[str, str, str]] = {
    "payment": ("the payment page|the card form|the payment step", "Payment|Payments|Card payment|Paying", "billing"),
    "invoice": ("the invoice page|the invoice list|the billing portal|the page with our invoices", "Invoice|Invoices|Billing|Our invoices", "billing"),
    "checkout": ("checkout|the checkout|the shopping cart|the order form", "Checkout|Cart|Orders|Order form", "sales"),
    "plan": ("the pricing page|the upgrade page|the plan settings|the subscription page", "Subscription|Our plan|Upgrade|Pricing", "sales"),
    "refund": ("the refund form|the returns page|the page for refunds", "Refund|Refunds|Returns", "billing"),
    "login": ("login|the login page|the sign-in page|single sign-on", "Login|Sign-in|Password|Logging in", "account"),
    "profile": ("the profile page|the account settings|the page with my details", "My account|Profile|Account settings", "account"),
    "export": ("the export|the CSV export|the monthly export|the download of reports", "Export|CSV export|Reports|Download", "feature"),
    "search": ("search|the search page|the product search|the search box", "Search|Search results|Finding things", "feature"),
    "calendar": ("the calendar|the calendar view|the booking calendar|the meeting planner", "Calendar|Meetings|Bookings|Appointments", "feature"),
    "mail": ("the newsletter tool|the mail editor|the notification page|the inbox", "E-mail|Notifications|Newsletter", "account"),
    "upload": ("the upload|the file upload|the picture gallery|the document store", "Upload|Files|Documents", "feature"),
    "tracking": ("the tracking page|the page with delivery times|the delivery map", "Delivery|Tracking|My parcel", "shipping"),
    "help": ("the help centre|the manual|the online guide", "Documentation|Help pages|Manual", "docs"),
    "security": ("the security page|the audit log|the page for access keys", "Security|Access keys|Audit", "security"),
}  # fmt: skip
# It fails for everyone, or for a whole customer.
OUTAGE = (
    "{w} {answers|responds|has been answering} with {a 503|a 500|HTTP 502|error 504|an internal server error} {for everyone|for all of our customers|for every user|no matter who tries}.", "{w} {is down|cannot be reached|is unreachable} {since {time}, for all of us|for all of us|for the whole company|from any office}.", "{nobody|no one} can use {w} {any more|since {time}|today}: {only a blank page|it just spins|it times out|the connection is refused}.",
    "{w} {stays blank|shows nothing but a spinner|never finishes loading} {for every customer we asked|on all machines|for each of our {nn} users}.", "since {time} {every|each} request to {w} {times out|ends in a timeout|fails with 503}.", "{w} has been {out|offline|dead} for {nn} minutes; {customers keep calling|all {nn} locations report it|our whole team sees the same}.",
    "{we get|everybody gets} \"{service unavailable|bad gateway|internal error|upstream timed out}\" on {w}, {all of us|on every browser and every account}.", "{w} {went down|stopped responding|broke down completely} {at {time}|after your maintenance|this morning}, and {nothing comes back|not one attempt gets through|every attempt fails}.", "{all|100% of} our attempts at {w} fail {since {time}|today} with {status 500|status 503|a gateway timeout}; {the same for our customers|none of our clients gets through}.",
    "{refunds|charges|bills} of {money} are waiting and {w} {cannot be opened by anyone|is unreachable for the whole team|throws error 500 at everybody}.", "{our customers want to pay|people want to settle their bills|{nn} orders over {money} are ready}, but {w} {is offline|does not respond|answers 503 each time}{, we lose {money} an hour|}.", "the {bill|amount|card} is fine, it is {w} that {is down for everyone|does not load for any customer|times out on each attempt}.",
    "nobody was charged: {w} {breaks off with a server error for every customer|is dead since {time}}.", "is {w} down? {None of us can get in|The whole office only sees an error page|All our users get error 50{n}}.", "{w} fails {everywhere|for all users}, {your status page is red too|the API behind it returns 500 as well}.",
)  # fmt: skip
# Slow or failing now and then, for everybody.
SLOW = (
    "{w} {is|has been} {painfully|very} slow for {everybody|all of us|the whole team} since {noon|{time}|{day}}.", "{w} takes {nn} seconds {to load|for each click}, {for everyone here|on all machines}; {last week it took one|it used to be instant}.", "about {nn} percent of the attempts at {w} time out {and work on the second try|, the rest takes a minute}, {for all users|in every branch}.",
    "{w} {crawls|hangs for half a minute} whenever {more than a few of us|our teams} {use it|are online}, since {day}.", "response times of {w} went from {n}00 ms to {nn} seconds {at {time}|with the last release} for all our users.",
)  # fmt: skip
# One function does the wrong thing; the service is up.
BUG = (
    "{w} {works, but|loads fine, but} {the dates are in the wrong order|the second column is empty|it shows the name of another month|umlauts turn into question marks}.", "all our users see {the wrong logo|a column too many} on {w} since {the update|{day}}; {it can be used all the same|everything else is right}.", "a button on {w} {does nothing when I click it|opens the wrong window|is hidden behind the footer}{| since the update}.", "the filter {you added to|on} {w} broke with the last {version|update}: {it ignores the year|it always gives the same three rows}. {Everything else works|The rest is fine}.",
    "{w} {sorts 10 before 9|counts February twice|mixes up first and last names}, {a small defect I think|reproducible every time}.", "on my phone {w} {cuts off the last line|crashes when I turn the screen|ignores the language I set}; {on the desktop it is right|others work normally}.", "the new {dark mode|shortcut|feature} {breaks the layout of {w}|no longer works on {w}}, {the page itself is fine|apart from that {w} works}.",
    "when I {press back|sort the list|enter a comma} on {w}, {my input is lost|it jumps to the wrong page|the numbers swap places}.",
)  # fmt: skip
# Money: wrong, owed, charged, to be returned. Pages, apps, errors and numbers are mentioned by the way.
BILLING = (
    "on {w} I see {two charges of {money}|a charge of {money} I never agreed to|{money} more than agreed}; {please correct the bill|please take it back|one of them has to go}.", "{the app says paid|your page says \"success\"}, {but my bank shows|and still} {the amount was taken twice|{money} went off twice}. I {want one back|need one of them returned}.", "invoice {id} {lists {nn} seats, we have {n}|has the old price|states the wrong VAT}{, as seen on {w}|, I downloaded it from {w}}.",
    "my card was {declined|rejected by the bank} {with code {nn}|with \"error {n}0{n}\"} although {there is money on it|it is valid until {month}}; {can I pay by transfer|how do I settle the bill} instead?", "{the discount is missing|the credit note is missing} on {our bill for {month}|invoice {id}}; {w} {works, only the amount is wrong|shows the same wrong total}.", "you {charged|debited} us for {month} although we {were on the trial|had stopped the plan in time}. {w} {still shows {money} due|says we owe {money}}.",
    "please {refund|return} the {money} {for order {id}|of {date}}; {I found the amount on {w}|the number on {w} is {code}}.", "during your outage {last week|in {month}} we paid in full; {we ask for a credit of {money}|what do we get back}? {w} {is fine again|works again}.", "{an error on our side|our own mistake}: {we paid invoice {id} twice|we sent {money} too much}. {Can you return it|Please offset it}?",
    "all {nn} of our branches were {charged twice|billed the old price} {since {month}|, every one of them}; {w} {loads fine|shows it}. {Please correct it|We want the difference back}.", "everyone in our team {was billed for a full year|got a wrong bill} {today|at {time}}, {the total is {money} too high|please cancel those bills}.", "why is {500|{nn}3|50{n}} on the bill? {w} {says|shows} {nn} units, so we owe less.",
)  # fmt: skip
ACCOUNT = (
    "I {forgot my password|locked myself out after five tries|lost the phone with my codes} and cannot open {w}; {colleagues can|it works for the others}.", "please {change the e-mail address of my user|rename my user to {full}|move my user to the other team}, {w} still shows the old one.", "{my user|{full}'s user} has no {rights|permission} to open {w}; {please add the role|we need an admin to allow it}.", "{full} has left us; {close the user|remove the access} {and hand {w} over to {name}|so that {w} is not open to them}.",
    "I {get|see} \"wrong password\" at {w} {only with my own user|with my account alone}; {a reset would do|please reset it}.",
)  # fmt: skip
FEATURE = (
    "{could|can} {w} {get|have} {a dark mode|a filter by date|keyboard shortcuts|a bigger font}{| some day}? {That would help|It would save us hours}.", "{w} works well; {what we miss is|we would love} {a way to share it|an integration with our chat|a bulk edit|a weekly summary}.", "idea for {w}: {show the week number|remember the last choice|let us drag and drop|warn before the limit is reached}.", "please consider {showing errors in {w} in plain words|an offline mode for {w}|alerts when {w} is down} {in a later version|as a new option}.",
    "{could|can} {w} be {opened for everyone in the company|made public for all our customers}? {Today it needs an invitation|There is no such option yet}.", "{it would be great|we wish} to have {w} {in our language|as a widget|on the watch} too.",
)  # fmt: skip
HOWTO = (
    "how do I {turn on {w} for everyone|give all our {nn} users {w}}?", "how do I {open|find|set up} {w} {for a second team|on a new laptop|for a new colleague}?", "where {is|do I find} {the option for|the setting behind} {w}? {I looked everywhere|The menu has changed}.", "is there a {guide|video} that explains {w}? {I am new here|We start on {day}}.", "what does {the number|the red dot|\"error budget\"|\"retry\"} on {w} {mean|stand for}?", "can {two people|a guest} use {w} at the same time, and how?", "what should I do {if|in case} {w} ever {fails|goes down}? {We are writing our emergency plan|It is for our handbook}.",
)  # fmt: skip
SALES = (
    "we {are comparing vendors|think of buying|need a quote for {nn} seats} and {want to know whether {w} is included|wonder what {w} costs}.", "{could someone show us {w}|can we have a demo of {w}} {next week|on {day}}? {We are {nn} people|We would move over from another tool}.", "before we sign: {may we put our logo on {w}|can {w} carry our own wording}, and {which plan|what offer} do we need?", "we are {about to order|ready to order} {nn} licences; {who sends the offer|please send an offer} {with {w}|that includes {w}}.",
)  # fmt: skip
DOCS = (
    "there is a {typo|spelling mistake} in the text of {w}: {\"recieve\" instead of \"receive\"|\"custmer\"|\"serivce unavailable\"|\"payed\"}.", "the text of {w} {has a dead link in the second line|links to the old manual}.", "the {article|guide} about {w} {still describes|shows pictures of} {the old version|the menu of {year}}; please update {the text|it}.", "step {n} of the instructions for {w} {is missing|contradicts step {n}}, {the product itself works|we found the way ourselves}.", "the wording on {w} {says 14 days, the policy says 30|is hard to understand}; {could you rewrite the paragraph|the text should be corrected}.",
)  # fmt: skip
SECURITY = (
    "{through|on} {w} I can {see the data of another company|open other people's files|read passwords in plain text}.", "someone {in {city}|from an address we do not know} {used our access|got into {w}} last night {and it was none of us|, please block it}.", "we {found|can show} a {hole|weakness} in {w}: {a changed number in the address gives foreign records|scripts are run as typed}.", "{a mail that copies {w}|a fake of {w} at {badurl}} {asks our staff for passwords|collects passwords}, {two of us fell for it|please act}.",
)  # fmt: skip
COMPLIANCE = (
    "please send us your {security certificate|penetration test report|data processing agreement} {, our auditor wants it|for our files}; it should also cover {w}.", "our auditor {asks|wants to know} {where the data behind {w} is stored|how long {w} keeps records}; {a signed document is enough|we need it in writing}.", "we need the signed {privacy|processing} agreement {before we roll out {w}|, {w} included}; {the security questionnaire is attached|our lawyers ask for it}.",
)  # fmt: skip
CANCEL = (
    "we {do not want to renew|want to end our contract|will leave you} at the end of {month}; {w} is {no longer needed|not used any more}.", "please {cancel our subscription|end our plan|terminate the contract}{, the last export is done|, {w} was all we used}.", "{how do I|please let me} {quit|end my membership}? {I have no use for {w} any more|We moved to another tool for {w}}.",
)  # fmt: skip
SHIPPING = (
    "{w} says delivered, but {no parcel came|nothing is here}; where is {order {id}|the box}?", "the parcel {came crushed|went to my old address}, although {w} {had the right one|shows the new one}.", "order {id} was {due on {day}|promised for {date}} and has not left your warehouse, {according to {w}|so {w} says}.",
)  # fmt: skip
# Scenes whose strongest word points elsewhere: (text, what it is, kinds that would be right as well).
TRAPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("{the password reset mail|the confirmation code|the invitation mail} {never arrives|is not sent} {for anyone|for any of our {nn} users} since {time}, {sign-ups have stopped|nobody gets in}.", "outage", ("bug", "account")),
    ("how do I cancel {a meeting|one appointment|tomorrow's booking} {in the calendar|that I planned twice}?", "howto", ()),
    ("cancelling {a meeting|a booking} {deletes the whole series|removes the wrong day}; {only one day was meant|the others should stay}.", "bug", ()),
    ("{the feature you announced|your newest feature} {crashes as soon as I open it|gives wrong sums}, {it worked in the beta|the old one was right}.", "bug", ()),
    ("the \"cancel subscription\" {button|link} {leads to a server error for everyone|returns 500 for all of us}, {your whole account area is offline|every page there is}.", "outage", ("bug",)),
    ("{the security scanner|our security gateway} {reports|shows} that {all your servers refuse connections|your API has not answered since {time}}, {nobody can work|all our shops stand still}.", "outage", ("bug",)),
    ("we would like {an invoice by post|the invoice as an XML file|a purchase order number on each invoice} {as a new option|, which is not possible today}.", "feature", ("billing",)),
    ("{the refund policy|your page on refunds} {has a typo|says \"fourteeen\"}, {nothing urgent|second line}.", "docs", ("bug",)),
    ("your price list page {loads for nobody|has been offline since {time}}, {all of our resellers|every browser we tried} {get|shows} error 503.", "outage", ("bug",)),
    ("the sales demo {was great|went well}; {one question|just this}: how do I {export the list|invite {n} colleagues} {we made|from it}?", "howto", ()),
    ("thank you for the quick fix of {the outage|the crash|the invoice}, {all is well|everything works} {again|now}. {Great team|You made our day}!", "praise", ()),
    ("{the shop|your service} {works like a charm|has not failed once} since {year}; {compliments to your engineers|never a wrong bill either}.", "praise", ()),
    ("we {get paid in|bill in} {francs|kroner}; {your system|the app} only {offers|knows} euros. {Could you add it|Please add it}?", "feature", ("billing",)),
    ("no {payment|order} has {come through|reached us} since {time}, {your webhook endpoint is dead|your gateway refuses every connection}, {we lose money each minute|{nn} shops are affected}.", "outage", ("bug",)),
    ("the download of {last year's invoices|the tax report} {stops at 99 percent for all of us|ends in a gateway timeout for everyone}, {the whole portal hangs|as does every other page}.", "outage", ("bug",)),
    ("you {took the yearly fee|charged the setup fee} {although the site was down that day|while your service was offline}; {we want that sum back|please credit it}.", "billing", ()),
    ("{the crash|the bug} {is gone, thanks|was fixed}, but {the {nn} calls made meanwhile are on our bill|we were billed for the failed runs}, {please correct it|that is {money} too much}.", "billing", ()),
    ("{my bank|our accountant} {sees|found} a debit \"{code} LOGIN\" {of {money}|over {money}} from you; {what is it for|we have no contract for that}?", "billing", ()),
)  # fmt: skip
# Short and plain in other languages: parts for {w}, subject lines, and texts by kind.
PARTS = {
    "de": "die Rechnungsseite|die Zahlungsseite|der Login|die Kasse|die Suche|der Export|der Kalender|das Kundenportal",
    "es": "la página de facturas|la página de pago|el inicio de sesión|el carrito|la búsqueda|la exportación|el calendario",
    "fr": "la page des factures|la page de paiement|la page de connexion|le panier|la recherche|l'export|le calendrier",
}
SUBJECTS = {
    "de": "Rechnung|Zahlung|Anmeldung|Export|Kalender|Bestellung",
    "es": "Factura|Pago|Acceso|Exportación|Calendario|Pedido",
    "fr": "Facture|Paiement|Connexion|Export|Calendrier|Commande",
}
FOREIGN: dict[str, dict[str, tuple[str, ...]]] = {
    "de": {
        "outage": ("{w} ist seit {n} Uhr für alle nicht erreichbar.", "{w} antwortet bei jedem Kunden mit Fehler 50{n}.", "Niemand kommt mehr durch: {w} zeigt nur eine leere Seite.", "{w} ist komplett ausgefallen, alle {nn} Filialen sind betroffen."),
        "billing": ("Auf der Rechnung {id} steht ein falscher Betrag, {w} zeigt denselben.", "Es wurde zweimal abgebucht, obwohl die App nur eine Zahlung anzeigt. Bitte eine zurück.", "Meine Karte wurde mit Fehler {nn} abgelehnt, kann ich überweisen?", "Sie haben uns {money} zu viel berechnet; {w} funktioniert, nur die Summe stimmt nicht."),
        "feature": ("{w} könnte einen dunklen Modus bekommen, das wäre schön.", "Wir wünschen uns einen Filter nach Datum: {w} hat bisher keinen."),
        "howto": ("Wie richte ich das für einen neuen Kollegen ein? Gemeint ist: {w}.", "Gibt es eine Anleitung? Es geht um Folgendes: {w}."),
        "bug": ("{w} geht, aber Umlaute werden zu Fragezeichen.", "{w} sortiert 10 vor 9, sonst ist alles in Ordnung."),
    },
    "es": {
        "outage": ("{w} no responde para nadie desde las {n}.", "{w} devuelve un error 50{n} a todos los clientes.", "Nadie puede entrar: {w} se queda en blanco.", "{w} está caída por completo, todas las tiendas están afectadas."),
        "billing": ("La factura {id} tiene un importe equivocado; lo vi aquí: {w}.", "Me cobraron dos veces aunque la aplicación muestra un solo pago. Devuélvanme uno.", "Rechazaron mi tarjeta con el código {nn}, ¿puedo pagar por transferencia?", "Nos han cobrado {money} de más; {w} funciona, pero la suma está mal."),
        "feature": ("Sería útil un modo oscuro: {w} es muy clara.", "¿Podrían añadir un filtro por fecha? Me refiero a esto: {w}."),
        "howto": ("¿Cómo lo configuro para un compañero nuevo? Hablo de esto: {w}.", "¿Hay una guía? Es sobre esto: {w}."),
        "bug": ("{w} funciona, pero los acentos salen como signos raros.", "{w} ordena el 10 antes del 9; lo demás está bien."),
    },
    "fr": {
        "outage": ("{w} ne répond plus pour personne depuis {n} h.", "{w} renvoie une erreur 50{n} à tous les clients.", "Personne ne peut travailler : {w} reste blanche.", "{w} est totalement en panne, tous nos magasins sont touchés."),
        "billing": ("Le montant de la facture {id} est faux, {w} affiche le même.", "J'ai été débité deux fois alors que l'application n'affiche qu'un paiement. Merci d'en rendre un.", "Ma carte a été refusée avec le code {nn}, puis-je payer par virement ?", "Vous nous avez facturé {money} de trop ; {w} fonctionne, seule la somme est fausse."),
        "feature": ("Un mode sombre serait utile : {w} est trop claire.", "Pourriez-vous ajouter un filtre par date ? Je parle de ceci : {w}."),
        "howto": ("Comment le configurer pour un nouveau collègue ? Il s'agit de ceci : {w}.", "Y a-t-il un guide ? C'est à propos de ceci : {w}."),
        "bug": ("{w} marche, mais les accents deviennent des signes bizarres.", "{w} classe 10 avant 9, le reste va bien."),
    },
}  # fmt: skip

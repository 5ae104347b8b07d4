# ruff: noqa: E501  (a table of texts, one a line)
"""Support tickets: a problem, an urgency and a tone, put together from parts in eight languages."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..corpus import Example
from .ask import Label, choice, noul, score, wrap

TEAMS: dict[str, Label] = {
    "billing": (
        ("billing", "Invoices, charges and payments"),
        ("payments_team", "Anything about money that was or will be charged"),
        ("finance", "payment problems, invoices, wrong amounts"),
    ),
    "refund": (
        ("refund", "The customer wants money back"),
        ("refunds", "asks to be reimbursed"),
        ("money_back", "Returns and reimbursements"),
    ),
    "outage": (
        ("outage", "The service is down or does not respond"),
        ("incident_response", "Something that worked has stopped for everyone"),
        ("sre", "production is unavailable"),
    ),
    "bug": (
        ("bug", "A function behaves wrongly"),
        ("engineering", "Defects in the product"),
        ("defect", "something is broken in the product, not down as a whole"),
    ),
    "feature": (
        ("feature", "A wish for something new"),
        ("product", "Ideas and feature requests"),
        ("feature_request", "asks for a capability that does not exist yet"),
    ),
    "account": (
        ("account", "Sign-in, passwords and profile"),
        ("identity", "cannot get into the account"),
        ("account_access", "Login, password and two-factor problems"),
    ),
    "shipping": (
        ("shipping", "Delivery of a parcel"),
        ("logistics", "late, lost or damaged parcels"),
        ("delivery", "Where is my order"),
    ),
    "cancel": (
        ("cancellation", "Wants to end the contract"),
        ("churn", "ends a subscription"),
        ("cancel_subscription", "The customer leaves"),
    ),
    "howto": (
        ("how_to", "Asks how something is done"),
        ("documentation", "questions about use"),
        ("usage_question", "Wants to know how to do something"),
    ),
    "praise": (
        ("praise", "Thanks and compliments"),
        ("positive_feedback", "says something good"),
        ("thanks", "Happy customer, nothing to do"),
    ),
    "security": (
        ("security", "Suspected break-in, leak or abuse"),
        ("security_team", "a vulnerability or stolen account"),
        ("trust_and_safety", "Security reports"),
    ),
}
PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "billing": ("I was charged twice this month.", "The amount on invoice {n} is wrong.", "My card was declined although it is valid.", "Why did the price go up to {n} dollars?", "The VAT number is missing on our bill."),
        "refund": ("I want my money back.", "Please refund order {n}.", "I returned the item and still have no reimbursement.", "I would like to be reimbursed for the second payment.", "Can you give the amount back to my card?"),
        "outage": ("The whole site is offline.", "Nothing works since this morning.", "All our users get a blank page.", "Your API answers with 503 for every call.", "The dashboard has been unreachable for everyone for an hour.", "Production is dead."),
        "bug": ("The export button does nothing when I click it.", "Dates are shown in the wrong time zone.", "The app crashes when I rotate the phone.", "Search gives results of another project.", "The total is off by one cent."),
        "feature": ("It would be great to have a dark mode.", "Could you add an export to Excel?", "We would love an integration with our calendar.", "Please consider keyboard shortcuts.", "A bulk edit would save us hours."),
        "account": ("I cannot log in any more.", "The password reset mail never arrives.", "My account is locked after three attempts.", "I lost the phone with my two-factor codes.", "How come my user was deactivated?"),
        "shipping": ("My parcel has not arrived yet.", "Tracking for order {n} has not moved for days.", "The box arrived damaged.", "You sent it to my old address.", "Where is my package?"),
        "cancel": ("Please cancel my subscription.", "We do not want to renew the contract.", "Close my plan at the end of the month.", "I want to end my membership.", "How do I stop the plan? I am leaving."),
        "howto": ("How do I invite a colleague?", "Where can I change the language?", "Is there a guide for the import?", "What is the limit for uploads?", "Can I rename a project, and where?"),
        "praise": ("Just wanted to say that the new release is wonderful.", "Your support was quick and kind, thank you.", "Great product, we love it.", "The update solved everything, well done."),
        "security": ("Someone signed in to my account from another country.", "I can see other customers' data when I change the id.", "We found our API key on a public page.", "I think I have been hacked.", "There is an injection hole in your login form."),
    },
    "de": {
        "billing": ("Mir wurde diesen Monat zweimal abgebucht.", "Der Betrag auf Rechnung {n} stimmt nicht.", "Meine Karte wurde abgelehnt."),
        "refund": ("Ich möchte mein Geld zurück.", "Bitte erstatten Sie mir Bestellung {n}.", "Wann bekomme ich die Rückerstattung?", "Ich habe die Ware zurückgeschickt und will den Betrag erstattet haben."),
        "outage": ("Die ganze Seite ist nicht erreichbar.", "Seit heute Morgen geht gar nichts mehr.", "Alle Nutzer sehen nur Fehler 503."),
        "bug": ("Der Export-Knopf tut nichts.", "Die App stürzt beim Drehen ab.", "Das Datum wird falsch angezeigt."),
        "feature": ("Ein dunkles Design wäre toll.", "Könnten Sie einen Excel-Export einbauen?", "Wir wünschen uns eine Kalenderanbindung."),
        "account": ("Ich kann mich nicht mehr anmelden.", "Die E-Mail zum Zurücksetzen des Passworts kommt nicht an.", "Mein Konto ist gesperrt."),
        "shipping": ("Mein Paket ist noch nicht da.", "Die Sendung {n} bewegt sich seit Tagen nicht.", "Das Paket kam beschädigt an."),
        "cancel": ("Bitte kündigen Sie mein Abo.", "Wir wollen den Vertrag nicht verlängern.", "Ich möchte meine Mitgliedschaft beenden."),
        "howto": ("Wie lade ich einen Kollegen ein?", "Wo kann ich die Sprache ändern?"),
        "praise": ("Vielen Dank, das neue Update ist großartig.", "Ihr Support war schnell und freundlich."),
        "security": ("Jemand hat sich aus einem anderen Land in mein Konto eingeloggt.", "Ich glaube, ich wurde gehackt."),
    },
    "es": {
        "billing": ("Me cobraron dos veces este mes.", "El importe de la factura {n} es incorrecto.", "Rechazaron mi tarjeta."),
        "refund": ("Quiero que me devuelvan el dinero.", "Por favor, reembolsen el pedido {n}.", "Devolví el producto y sigo sin el reembolso.", "Solicito la devolución del segundo pago."),
        "outage": ("Todo el sitio está caído.", "Nada funciona desde esta mañana.", "La API responde con 503 a todas las llamadas."),
        "bug": ("El botón de exportar no hace nada.", "La aplicación se cierra al girar el teléfono.", "Las fechas salen mal."),
        "feature": ("Sería genial tener un modo oscuro.", "¿Podrían añadir exportación a Excel?"),
        "account": ("No puedo iniciar sesión.", "No me llega el correo para restablecer la contraseña.", "Mi cuenta está bloqueada."),
        "shipping": ("Mi paquete no ha llegado.", "El envío {n} no se mueve desde hace días.", "La caja llegó rota."),
        "cancel": ("Quiero cancelar mi suscripción.", "No queremos renovar el contrato."),
        "howto": ("¿Cómo invito a un compañero?", "¿Dónde cambio el idioma?"),
        "praise": ("Muchas gracias, la nueva versión es estupenda.", "El soporte fue rápido y amable."),
        "security": ("Alguien entró en mi cuenta desde otro país.", "Creo que me han hackeado."),
    },
    "fr": {
        "billing": ("J'ai été débité deux fois ce mois-ci.", "Le montant de la facture {n} est faux."),
        "refund": ("Je veux être remboursé.", "Merci de rembourser la commande {n}.", "J'attends toujours mon remboursement."),
        "outage": ("Tout le site est hors service.", "Plus rien ne marche depuis ce matin."),
        "bug": ("Le bouton d'export ne fait rien.", "L'application plante quand je tourne le téléphone."),
        "feature": ("Un mode sombre serait formidable.", "Pourriez-vous ajouter un export Excel ?"),
        "account": ("Je ne peux plus me connecter.", "Mon compte est bloqué."),
        "shipping": ("Mon colis n'est pas arrivé.", "Le colis est arrivé abîmé."),
        "cancel": ("Je souhaite résilier mon abonnement.", "Nous ne voulons pas renouveler le contrat."),
        "howto": ("Comment inviter un collègue ?", "Où changer la langue ?"),
        "praise": ("Merci beaucoup, la mise à jour est superbe.",),
        "security": ("Quelqu'un s'est connecté à mon compte depuis l'étranger.",),
    },
    "ja": {
        "billing": ("今月、二重に請求されています。", "請求書{n}の金額が間違っています。", "カードが使えませんでした。", "料金の明細を教えてください。"),
        "refund": ("返金してください。", "注文{n}の代金を返してほしいです。", "商品を返品したのに、まだ返金がありません。", "払い戻しをお願いします。", "二回目の支払いの返金を希望します。"),
        "outage": ("サイト全体が落ちています。", "今朝から何も動きません。", "全員がアクセスできません。", "サービスが停止しています。"),
        "bug": ("エクスポートのボタンを押しても何も起きません。", "アプリがすぐに落ちます。", "日付の表示がおかしいです。"),
        "feature": ("ダークモードがあると嬉しいです。", "エクセルへの出力機能を追加してほしいです。", "カレンダーと連携できるようにしてください。"),
        "account": ("ログインできません。", "パスワード再設定のメールが届きません。", "アカウントがロックされました。"),
        "shipping": ("荷物がまだ届きません。", "注文{n}の配送状況を教えてください。", "箱が壊れて届きました。"),
        "cancel": ("契約を解約したいです。", "サブスクリプションを解約してください。", "退会したいです。"),
        "howto": ("同僚を招待する方法を教えてください。", "言語はどこで変更できますか。"),
        "praise": ("新しいバージョンは素晴らしいです。", "丁寧な対応をありがとうございました。", "とても満足しています。"),
        "security": ("知らない国から私のアカウントにログインされました。", "不正アクセスされたようです。"),
    },
    "pt": {
        "billing": ("Fui cobrado duas vezes este mês.", "O valor da fatura {n} está errado."), "refund": ("Quero meu dinheiro de volta.", "Por favor, reembolsem o pedido {n}."),
        "outage": ("O site inteiro está fora do ar.", "Nada funciona desde hoje cedo."), "bug": ("O botão de exportar não faz nada.",), "feature": ("Seria ótimo ter um modo escuro.",),
        "account": ("Não consigo entrar na minha conta.",), "shipping": ("Meu pacote ainda não chegou.",), "cancel": ("Quero cancelar minha assinatura.",), "howto": ("Como convido um colega?",),
        "praise": ("Muito obrigado, o suporte foi excelente.",), "security": ("Alguém entrou na minha conta de outro país.",),
    },
    "it": {
        "billing": ("Mi avete addebitato due volte.",), "refund": ("Vorrei un rimborso per l'ordine {n}.", "Rivoglio i miei soldi."), "outage": ("Tutto il sito non funziona.",), "bug": ("Il pulsante di esportazione non fa nulla.",),
        "feature": ("Sarebbe bello avere il tema scuro.",), "account": ("Non riesco ad accedere.",), "shipping": ("Il pacco non è ancora arrivato.",), "cancel": ("Voglio disdire l'abbonamento.",),
        "howto": ("Come si invita un collega?",), "praise": ("Grazie mille, ottimo servizio.",), "security": ("Qualcuno è entrato nel mio account.",),
    },
    "zh": {
        "billing": ("这个月我被重复扣款了。", "发票{n}的金额不对。"), "refund": ("请给我退款。", "我要求退还订单{n}的钱。", "我已经退货，还没有收到退款。"), "outage": ("整个网站都打不开。", "从早上开始所有功能都不能用。"), "bug": ("点击导出按钮没有反应。", "应用一打开就闪退。"),
        "feature": ("希望能增加深色模式。", "能不能支持导出Excel？"), "account": ("我无法登录。", "收不到重置密码的邮件。"), "shipping": ("我的包裹还没有到。", "快递送到的时候已经坏了。"), "cancel": ("我想取消订阅。", "请帮我注销会员。"),
        "howto": ("怎么邀请同事？", "在哪里修改语言？"), "praise": ("新版本非常好用，谢谢。", "客服很热情，非常满意。"), "security": ("有人从国外登录了我的账号。",),
    },
}  # fmt: skip
# level 0: no hurry, 1: some days, 2: today, 3: now
URGENCY: dict[str, tuple[tuple[str, ...], ...]] = {
    "en": (("No hurry.", "Whenever you find the time.", "This can wait.", "Low priority, just so you know.", "Just a suggestion."),
           ("We would like an answer this week.", "It has been like this for a few days.", "Please have a look in the next days."),
           ("We need this fixed today.", "The report is due this afternoon.", "Please answer before the end of the day."),
           ("Our launch is in {m} minutes!", "Customers are leaving right now.", "We lose {n} dollars every minute.", "The board meets in one hour and we cannot show anything.", "This is an emergency.", "Call me back at once.", "We go live at {m} past and are stuck.", "The presentation to the client starts at eleven.")),
    "de": (("Es eilt nicht.", "Wenn Sie mal Zeit haben."), ("Bitte im Laufe der Woche.",), ("Wir brauchen das heute noch.",), ("Das ist ein Notfall!", "Unser Start ist in {m} Minuten!", "Bitte sofort!")),
    "es": (("No hay prisa.", "Cuando puedan."), ("Esta semana, por favor.",), ("Lo necesitamos hoy.",), ("¡Es una emergencia!", "¡Lanzamos en {m} minutos!", "¡Respondan de inmediato!")),
    "fr": (("Rien ne presse.",), ("Cette semaine si possible.",), ("Il nous le faut aujourd'hui.",), ("C'est une urgence !", "Répondez tout de suite !")),
    "ja": (("急ぎません。", "お手すきの時にお願いします。"), ("今週中にお願いします。",), ("今日中に必要です。",), ("緊急です！", "至急対応してください。", "あと{m}分で発表が始まります。")),
    "pt": (("Sem pressa.",), ("Esta semana, por favor.",), ("Precisamos disso hoje.",), ("É uma emergência!",)),
    "it": (("Non c'è fretta.",), ("Questa settimana, per favore.",), ("Ci serve oggi.",), ("È un'emergenza!",)),
    "zh": (("不着急。",), ("请本周内处理。",), ("今天必须解决。",), ("非常紧急！", "请马上处理！")),
}  # fmt: skip
TONES: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {"polite": ("Thank you for your help.", "Could you kindly take a look?", "Many thanks in advance."), "angry": ("This is ridiculous.", "I am furious.", "What a joke of a company.", "Unacceptable!", "I have had enough of you."),
           "worried": ("I am getting nervous about this.", "I am afraid we will lose the data.", "We are in trouble here.", "I am quite worried."), "calm": ("", "", "For your information.")},
    "de": {"polite": ("Vielen Dank im Voraus.",), "angry": ("Das ist eine Frechheit!", "Ich bin stinksauer."), "worried": ("Ich mache mir Sorgen.",), "calm": ("",)},
    "es": {"polite": ("Muchas gracias de antemano.",), "angry": ("¡Esto es inaceptable!", "Estoy harto."), "worried": ("Estoy preocupado.",), "calm": ("",)},
    "fr": {"polite": ("Merci d'avance.",), "angry": ("C'est scandaleux !",), "worried": ("Je suis inquiet.",), "calm": ("",)},
    "ja": {"polite": ("よろしくお願いいたします。", "お手数をおかけします。"), "angry": ("ふざけないでください。", "本当に腹が立ちます。"), "worried": ("とても不安です。",), "calm": ("",)},
    "pt": {"polite": ("Obrigado pela ajuda.",), "angry": ("Isso é um absurdo!",), "worried": ("Estou preocupado.",), "calm": ("",)},
    "it": {"polite": ("Grazie mille.",), "angry": ("È una vergogna!",), "worried": ("Sono preoccupato.",), "calm": ("",)},
    "zh": {"polite": ("谢谢您的帮助。",), "angry": ("太过分了！",), "worried": ("我很担心。",), "calm": ("",)},
}  # fmt: skip
TONE_LABELS: dict[str, Label] = {
    "polite": (("polite", "Friendly and courteous"), ("friendly", "kind words")), "angry": (("angry", "Furious or insulting"), ("hostile", "the writer has lost patience")),
    "worried": (("worried", "Anxious or under pressure"), ("stressed", "nervous, under time pressure")), "calm": (("calm", "Neutral, without emotion"), ("neutral", "matter of fact")),
}  # fmt: skip
LANGUAGES = {
    "en": "english",
    "de": "german",
    "es": "spanish",
    "fr": "french",
    "ja": "japanese",
    "pt": "portuguese",
    "it": "italian",
    "zh": "chinese",
}
TEAM_ASKS = (
    "Which team should handle this?",
    "Who should get it?",
    "What is the customer writing about?",
    "Pick the queue for this message.",
    "team",
    "Classify the request.",
    "What does the customer want?",
    "Topic of the ticket?",
)
WANTS: dict[str, tuple[str, ...]] = {
    "refund": ("Is the customer asking for a refund?", "Does the writer want money back?", "Refund requested?", "The message requests reimbursement."), "outage": ("Is the service down?", "Does this report an outage?", "Is the whole product unavailable?"),
    "cancel": ("Does the customer want to cancel?", "Is this a cancellation?", "Is the customer leaving?"), "bug": ("Does this describe a defect?", "Is a bug reported?"), "feature": ("Is it a wish for a function that is missing?", "Does the writer ask for something new?"),
    "account": ("Is this about access to an account?", "Does the user have trouble signing in?"), "shipping": ("Is this about a delivery?", "Does it concern a parcel?"), "praise": ("Is this praise?", "Is the customer satisfied?"),
    "security": ("Is this a security matter?", "Could an account or data be compromised?"), "billing": ("Is this about a charge or an invoice?", "Does it concern billing?"), "howto": ("Does the user ask how to do something?", "Is this a question about usage?"),
}  # fmt: skip
URGENT_ASKS = (
    "Is this urgent?",
    "Does this need an answer now?",
    "Should someone be paged?",
    "Is there time pressure?",
    "urgent",
    "Is this time critical?",
    "Needs a reply within the hour?",
    "Does this have to be handled at once?",
)
NOT_URGENT = ("Can this wait until next week?", "Is it fine to answer later?", "Is this low priority?")
URGENCY_SCALES = (
    ("no hurry", "within days", "today", "immediately"),
    ("low", "normal", "high", "critical"),
    ("can wait", "this week", "same day", "drop everything"),
    ("not urgent", "slightly urgent", "urgent", "emergency"),
)

ANGER_ASKS = (
    "How annoyed does the writer sound?",
    "Level of frustration",
    "Rate the writer's anger.",
    "How irritated is the author?",
    "how_angry",
    "How upset is the sender?",
    "How frustrated is the user?",
)
ANGER_SCALES = (
    ("calm", "irritated", "enraged"),
    ("not angry", "somewhat angry", "very angry"),
    ("relaxed", "upset", "outraged"),
    ("states facts without emotion", "frustrated but polite", "strong language, very angry"),
    ("serene", "annoyed", "livid"),
    ("calm", "annoyed", "raging"),
)


def ticket(rng: random.Random) -> Iterator[Example]:
    """One ticket and several questions about it."""
    lang = rng.choices(list(LANGUAGES), (10, 3, 3, 2, 4, 1, 1, 2))[0]
    kind = rng.choice(list(TEAMS))
    level = {
        "outage": rng.choice((2, 3, 3, 3)),
        "security": rng.choice((2, 3, 3)),
        "praise": 0,
        "feature": rng.choice((0, 0, 1)),
        "howto": rng.choice((0, 1)),
    }.get(kind, rng.randint(0, 3))
    tone = (
        "polite"
        if kind == "praise"
        else rng.choice(("worried", "worried", "angry"))
        if level == 3 and rng.random() < 0.6
        else rng.choice(("polite", "angry", "worried", "calm", "calm"))
    )
    slots = {"n": str(rng.randint(20, 9999)), "m": str(rng.randint(5, 55))}
    parts = [rng.choice(PARTS[lang][kind])]
    silent = kind in ("praise", "outage", "security", "howto") and rng.random() < 0.4  # nothing said of time
    if not silent:
        parts.append(rng.choice(URGENCY[lang][level]))
    parts.append(rng.choice(TONES[lang][tone]))
    if rng.random() < 0.3:
        rng.shuffle(parts)
    text = ("" if lang in ("ja", "zh") else " ").join(p.format(**slots) for p in parts if p).strip()
    if lang == "en" and rng.random() < 0.2:
        text = text.lower().replace(".", "")
    state = wrap(
        rng, text, ("message", "body", "text", "ticket"), subject=rng.choice(["Help", "Question", "Support", "(no subject)"])
    )
    made = "made:ticket"
    yield choice(rng, made + "_team", state, TEAM_ASKS, TEAMS, kind)
    asked = rng.choice([kind, kind, rng.choice(list(WANTS))])
    related = {kind, asked} in (
        {"refund", "billing"},
        {"outage", "bug"},
        {"account", "security"},
        {"cancel", "howto"},
        {"bug", "account"},
        {"shipping", "refund"},
    )
    if asked == kind or not related:
        yield noul(
            rng,
            made + "_wants",
            state,
            asked == kind,
            WANTS[asked],
            (f'Has the writer a concern that is not "{asked}" but another?',),
        )
    if level in (0, 3):
        yield noul(
            rng,
            made + "_urgent",
            state,
            level == 3,
            URGENT_ASKS,
            NOT_URGENT,
            ("someone must act within minutes or hours", "it can wait"),
        )
    if not silent and rng.random() < 0.6:
        yield score(
            rng,
            made + "_urgency",
            state,
            level,
            ("How urgent is this?", "urgency", "Rate the priority.", "How soon must someone act?"),
            URGENCY_SCALES,
        )
    # nobody is calm in an emergency, even where no word says so
    felt = "worried" if tone == "calm" and level == 3 else tone
    if rng.random() < 0.6 and (felt != "calm" or level < 2):
        yield choice(
            rng,
            made + "_tone",
            state,
            ("What is the tone?", "tone", "How does the writer feel?", "Mood of the message"),
            TONE_LABELS,
            felt,
        )
    if rng.random() < 0.6 and (felt != "calm" or level < 2) and (felt, level) != ("polite", 3):
        anger = {"polite": 0, "calm": 0, "worried": 1, "angry": 2}[felt]
        yield score(rng, made + "_anger", state, anger, ANGER_ASKS, ANGER_SCALES)
    if rng.random() < 0.3:
        yield noul(
            rng,
            made + "_calm",
            state,
            felt in ("calm", "polite") and level < 2,
            ("Is the writer calm?", "Is the tone relaxed?"),
            ("Is the writer upset or under pressure?", "Is the writer agitated?"),
        )
    if rng.random() < 0.2:
        labels: dict[str, Label] = {v: ((v, f"Written in {v.title()}"), (k, f"{v.title()} text")) for k, v in LANGUAGES.items()}
        yield choice(rng, made + "_language", state, ("Which language is this?", "language"), labels, LANGUAGES[lang])

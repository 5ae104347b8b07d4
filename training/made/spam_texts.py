# ruff: noqa: E501  (a table of texts, one part a line)
"""Spam written for this project. Each kind has four lines: subjects, openers, points, closers (`spin.table`).

`ADVERTS` sell something nobody asked for, often without any loud mark; `FRAUDS` want data or money by deceit.
"""

from __future__ import annotations

ADVERTS: dict[str, str] = {
    "stock": """{hot|small cap|undervalued} {stock|energy|mining} {pick|alert|play} for {day} // {co}: about to {break out|move|run} // watch this ticker // investor {bulletin|update}
{Our last pick went up {nn} percent in {n} days|Investors who followed our {month} report doubled their money}. // {Trading symbol|Ticker}: {code}. Current price: 0.{nn}, {short term|{n} day} target: {n}.{nn} // The market has not noticed {co} yet.
{A big PR campaign starts on {day}|Insiders are buying}, get in {before|early}. // {co} announced a {drilling|licence|merger} {agreement|deal} worth {big}. // We rate {code} a strong buy at these levels. // This is a rare chance to own a {oil|gold|biotech} company at pennies a share. // Do not wait until it is trading at {n} dollars.
{This report is for information only and we were paid {money} to publish it.|Statements are forward looking within the meaning of the securities act.} // Call your broker today. // Add {code} to your radar on {day} morning.""",
    "pharmacy": """{Viagra|Cialis|Xanax|Valium} {from {money}|at half price|without prescription} // {your|online} {pharmacy|medication|refill} {is ready|savings} // save {nn}% on meds // re: your doctor visit
{No prescription needed|No doctor visit, no waiting room}. // Our {Canadian|licensed online|overseas} pharmacy {ships|delivers} {worldwide|to your door in plain packaging}. // {Why pay more at the local drugstore?|Tired of high prices for medicine?}
{Viagra|Cialis|Levitra|Ambien|Vicodin|Soma} from {money} per {pill|pack}. // All orders are {confidential|discreet} and {shipped overnight|approved within minutes}. // {Over {nn},000 satisfied customers|Generic quality, same ingredients}. // Buy {nn} pills and receive {n} free.
{Order here|Visit us}: {badurl} // {badurl} // Order before {day} and shipping is free.""",
    "enhance": """{she|your partner} will {notice|thank you} // {bigger|longer|harder} in {n} weeks // be a new man // confidence in the bedroom
{Men over {nn} often ask us the same question|Size matters, whatever they say}. // {Natural herbal|Doctor approved} {formula|patch|pills} for men.
Gain up to {n} inches or your money back. // {Nine out of ten women|{nn}% of wives} agree. // No pumps, no surgery, only {one|two} capsules a day. // Last all night.
{Try it free|Free sample}: {badurl} // See before and after photos at {badurl}""",
    "mortgage": """{rates|mortgage rates} as low as {n}.{n}% // your {loan|refinance} {application|request} was {approved|accepted} // {lower|cut} your monthly payment // pre-approved for {money}
You have been {pre approved|selected} for a {home loan|refinance} of {money} at a fixed rate of {n}.{nn}%. // {Bad credit|Bankruptcy|Past problems} {is|are} no problem. // Rates have never been this low, and they will not stay there.
{Hundreds of|Over {nn}} lenders compete for your business. // {It takes one minute to fill in our short form|There is no obligation and no fee}. // {Consolidate your debts|Take cash out of your home}, pay off your cards. // Your current credit score is not a factor.
{Complete the form|Confirm your details} at {badurl} // Respond by {day} to keep this rate. {badurl} // An adviser calls you within {n} hours.""",
    "debt": """{get|be} out of debt // eliminate {nn}% of what you owe // credit card {relief|help} {program|notice}
{Are collectors calling you?|Drowning in bills?} // A {little known|new} law lets you {cancel|settle} credit card debt.
We {cut|reduce} your balance by up to {nn} percent. // {One low monthly payment|No more interest}. // {Our counselors are standing by|The consultation costs nothing}.
Call {phone} {toll free|now}. // Start here: {badurl}""",
    "degree": """{university|bachelor, master, doctorate} {diploma|degree} {without exams|in {n} weeks} // {get|earn} the {degree|title} you deserve // your diploma
{Is a missing degree holding you back?|You have the experience, why not the diploma?} // Obtain a {bachelor|master|PhD} from a {prestigious|non accredited} university based on {your life experience|what you already know}.
No {tests|classes|books|interviews}. // {Nobody is turned down|Everyone is approved}. // {Complete confidentiality|Verifiable transcripts} assured. // Earn the salary that goes with it.
Call {phone}, 24 hours a day. // Leave your name and number at {phone}.""",
    "dating": """{lonely|hi there|hello} // {name} {sent you a message|wants to meet you|viewed your profile} // {hot|single} {women|girls|ladies} in {city} // remember me?
{Hi|Hey}, {I am|my name is} {name}, {nn}, and I {found your profile|saw your picture} and {liked it|want to know you better}. // {Thousands of|{nn}} {singles|beautiful Russian women} {near you|in your area} are waiting. // I am {sweet|gentle|lonely} girl looking for {serious man|fun}.
{I have some private pictures for you|My webcam is on now}. // {Registration is free|No credit card needed} tonight. // I am only in {city} until {day}, so {write|message} me soon. // No strings attached.
See me at {badurl} // Write to my other address {name}{nn}@{badurl} // {name} is waiting: {badurl}""",
    "software": """{Windows|Office|Photoshop|CAD} {year} {for {money}|{nn}% off} // {OEM|cheap|discount} software {store|downloads} // software at wholesale prices
{Why buy a box when you can download?|Authentic programs at a fraction of the shop price}. // {All|Top {nn}} {titles|programs} for PC and Mac.
{Office Pro|Adobe Suite|AutoCAD|Windows Ultimate}: retail {money}, our price {money}. // {No manuals, no box|OEM means no CD, no packing}, that is why it is cheap. // {Updated daily|Over {nn}0 titles}. // Download right after payment.
{Shop|See the whole list}: {badurl} // {badurl}""",
    "replica": """{Rolex|Cartier|luxury} {watches|replicas} {from {money}|for less} // {designer|brand} {bags|watches} at {nn}% off // look rich
{You|Everybody} can own a {Rolex|Gucci bag|Louis Vuitton purse|Breitling} now. // {Exact copies|First class replicas} of {Swiss watches|famous brands}.
{Same weight, same movement|Even jewellers cannot tell}. // {Every model|{nn} new models} in stock. // {Gift box included|Free shipping on two or more}. // Impress your {friends|clients|girlfriend}.
{Catalogue|Shop}: {badurl} // {badurl}""",
    "workhome": """{work|earn} from home // {part time|home} {job|position} in {city} // make {money} a {week|day} // be your own boss
{Fire your boss|Imagine never commuting again}. // {We are hiring {nn} people|A {European|growing} company looks for representatives} to {process payments|stuff envelopes|receive parcels} at home. // I was broke {n} months ago, now I earn {money} a {week|month}.
No {experience|skills|selling} {needed|required}. // {You only need a phone and internet|{n} hours a week are enough}. // {My system runs itself|The money comes while you sleep}. // Only {nn} places left in {city}.
{Get the free kit|Watch the free video}: {badurl} // Reply with "interested" for details. // Places are limited, {register|sign up} at {badurl}""",
    "seo": """{website|seo} {proposal|audit|question} // {first page of the search results|more traffic} for your {site|business} // your website // quick question about your site
{I was looking at your website|I came across your site} and {noticed it does not rank|found some errors that hurt your ranking}. // My name is {full} and I {am a digital marketing consultant|lead an offshore team of {nn} SEO experts}. // {Hope you are doing well|Greetings of the day}.
We {can place|will put} your website on page one {within {n} months|at an affordable price}. // Our {packages start|monthly plan starts} at {money}. // We {offer|do} link building, {guest posts|social media}, {web design|app development} and content. // We have served {nn}0 clients {worldwide|in your industry}.
{May I send you a quote|Can I send you a price list} and past work? // If interested, {share your phone number|reply with your requirements}. // {Best|Kind} regards, {full}, Business Development""",
    "leads": """{contact list|decision makers} {for your industry|in {city}} // {attendees list|email list} {month} {year} // re: {database|mailing list}
{Would you be interested in|I am following up on} a {verified|fresh} list of {{nn},000 contacts|attendees|CFOs and IT managers}? // {Bulk|Targeted} email addresses: {nn} million for {money}.
{Each record has|The list comes with} name, title, phone and e-mail. // {You own it for unlimited use|We guarantee {nn}% deliverability}. // {Let your offer be seen by millions|Direct email is the cheapest advertising there is}.
Let me know your {target audience|criteria} and I will {send counts and cost|get back with a quote}. // Regards, {full}, Data Specialist // Order at {badurl}""",
    "weight": """{lose|drop} {nn} pounds {by {month}|fast} // the {berry|tea|keto gummy} doctors {hate|hide} // {summer|new} body // fat is not your fault
{A {nn} year old mother|{name} from {city}} lost {nn} pounds {without dieting|eating what she liked}. // {As seen on TV|Scientists in {city} discovered} a {natural|simple} {trick|extract} that burns fat.
{No exercise, no hunger|Eat pizza and still lose weight}. // {{nn}-day|Full} money back guarantee. // {Your first bottle is free|Only {nn} bottles left}, just pay shipping. // Works even for people over {nn}.
{Claim your bottle|Try it}: {badurl} // {badurl}""",
    "casino": """{{money} bonus|{nn} free spins} {waiting|inside} // {online|VIP} casino {invitation|welcome} // your chips expire
{Play|Join} {roulette, poker and slots|the most generous casino online} {at home|from your phone}. // {We have credited|You received} {money} in {chips|bonus} {without deposit|to your player account}.
{First deposit doubled|{nn}0% match} {up to {money}|today}. // {Payouts within {n} hours|Last week {name} won {money}}. // Download takes {n} minutes.
Play now: {badurl} // {badurl} - 18+ // Your code: {code}""",
    "crypto": """{bitcoin|crypto} {profit|signals|system} // how {name} {made|earned} {money} in {n} days // {investment|trading} {opportunity|platform} // passive income
Our {trading robot|AI platform|group of analysts} {earns|makes} {n}% {a day|daily} {on autopilot|guaranteed}. // {Banks do not want you to know|Celebrities already use} this {coin|method}.
{Deposit {money}, withdraw {money}|Minimum deposit {money}}. // {No losing trades since {month}|All signals verified}. // {Join our group of {nn},000 members|Refer a friend and earn more}.
Join {badurl} // Message us on the app: {phone} // {Activate|Open} your account at {badurl}""",
    "conference": """{call for papers|invitation to publish} {month} {year} // {dear professor|dear researcher}, {speaker invitation|special issue} // your valuable manuscript
We {have read your eminent work|cordially invite you to submit} {with great interest|to the International Journal of Advanced {Science|Engineering} Research}. // {It is our pleasure|We are honoured} to invite you as {keynote speaker|editor} at the {3rd|5th|9th} World {Summit|Congress} in {city}.
{Papers are published within {nn} days of submission|Peer review takes {n} days}. // {The processing fee is {money}|Registration starts from {money}}. // All fields of {science|management|medicine|engineering} are welcome. // {Kindly|Please} respond within {nn} hours.
Submit at {badurl} // Sincerely, {full}, Editorial Office // To decline, reply with "remove".""",
    "supplies": """{toner|ink|printer cartridges} {nn}% off // {LED lights|valves|steel parts|packaging} from factory // {business cards|promo pens} for {money} // cooperation with your company
{Dear manager|Dear purchasing team}, we are a {professional|leading} {manufacturer|supplier} of {LED lamps|plastic moulds|bags|steel pipes|solar panels} in {city}. // {Stop overpaying|Save up to {nn}%} on {toner|ink|office supplies}.
{Our prices are lower than your current supplier|Good quality, fast delivery}. // {MOQ is {nn}0 pieces|Samples are free}. // {We accept purchase orders|We export to {nn} countries}. // {Catalogue attached|See attached price list}.
{Hope to establish long business relationship|Waiting for your inquiry}. // Call {phone} to order. // Yours, {name}, sales manager {co}""",
    "insurance": """{life|car|health} insurance {from {money}|quote} // {seniors|drivers in {city}} {save|pay less} // {extended|vehicle} warranty {notice|expiring}
{Drivers in {city}|People over {nn}} are switching {this month|today}. // {Your vehicle warranty|Your cover} {is about to expire|may have lapsed}.
{No medical exam|No questions asked}. // {{money} of cover for {money} a month|Compare {nn} companies in one minute}. // This is {our final attempt|your last chance} to {extend|activate} it.
Get a quote: {badurl} // Call {phone}.""",
    "cable": """{free|watch} {movies|channels|tv} // {nn}00 channels for {money} // {satellite|streaming} box {sale|deal} // copy any dvd
{Cancel your cable|Never pay for TV again}. // {Unlock|Watch} {every|all} {premium channel|sport event|film} with {our box|one small filter}.
{Works in any country|Nobody will find out}. // {One payment of {money}|{n} months free}. // {Even pay-per-view|Adult channels included}.
{badurl} // Order yours before {day}: {badurl}""",
    "adult": """{uncensored|private} {videos|cams} // {you must be 18|adults only} // {college girls|housewives} live
{The wildest|Hottest} {amateur girls|webcams} {on the net|live now}. // {name} and her roommate forgot the camera was on.
{Free membership tonight|No credit card}. // {New clips every day|{nn},000 pictures}. // Totally private and {instant|anonymous} access.
Enter: {badurl} // {badurl}""",
    "timeshare": """{free|luxury} {cruise|vacation|holiday} for two // your {n} nights in {city} // travel {voucher|award} {code}
{You qualify|You were chosen} for a {cruise|stay in {city}} {at no cost|for only {money}}. // {We are calling to confirm|Final notice for} your holiday {voucher|package}.
{Flights, hotel and meals included|Only taxes and port fees apply}. // {Attend a {nn} minute presentation|Both partners must be present}. // The offer ends {day} at midnight.
Call {phone} with code {code}. // Claim at {badurl}""",
    "followers": """{grow|boost} your {page|channel|account} // {nn},000 followers for {money} // real likes
{Want to be famous?|Your page deserves an audience.} // We deliver {followers|views|reviews} in {nn} hours.
{No password needed|{nn}% real people}. // {First {nn}0 free|Refill guarantee}. // {Five star reviews|Negative review removal} from {money}.
{badurl} // Contact us on {phone}""",
    "funding": """{an offer for|help with} your {business funding|working capital} // {unsecured|merchant} {credit line|cash advance} up to {money} // your business qualifies
{Our underwriting team reviewed your company|Your business file {id} is ready} and {we can fund|approved} {money}. // I {tried to reach you|left you a message} about {financing|a line of credit}.
{Funds arrive in {nn} hours|No collateral, no tax returns}. // {Rates start at {n}.{n}%|Repay from daily sales}. // {We only need {n} bank statements|Simply sign the attached form}.
{Please let me know a good time to talk|What amount would help you most?} {full}, Senior Funding Manager // Opt out by replying stop.""",
}

FRAUDS: dict[str, str] = {
    "advance": """{urgent|confidential} {business proposal|assistance needed} // {dear friend|greetings} // from the desk of {full} // {transfer of {big}|mutual benefit}
{I am|My name is} {barrister|Mrs|Dr|Engr} {full}, {a banker in {city}|widow of the late minister|auditor with the central bank|solicitor to a late client}. // {I know this mail comes as a surprise|Pardon my intrusion}, {but I must trust someone|I got your contact in my search for a reliable person}.
{A client died in a plane crash|My late husband deposited} {and left|the sum of} {big} {with no next of kin|in a security company}. // {You will receive|We shall share} {nn}% {of the sum for your assistance|and the rest is for charity}. // {This transaction is risk free|Keep this strictly confidential}. // {The doctors give me only few weeks|I intend to invest the money in your country}.
{Send me your full name, phone and bank details|Reply to my private email {name}{nn}@{badurl}}. // {Yours faithfully|God bless you}, {full} // I await your urgent response.""",
    "lottery": """{winning|award} notification {code} // {congratulations|your email has won} // {online lottery|promo} {result|final notice}
{We are pleased to inform you|This is to notify you} that your {email address|number} won {big} in the {city} {lottery|promotion}. // Your ticket {id} drew the lucky numbers in category {n}.
{No tickets were sold|All addresses were selected by computer}. // {To file your claim|For release of the prize}, {contact our agent|send your name, age and address} {full}. // {Claims not made by {date} are returned|A courier fee of {money} applies}. // Keep this award secret until it is paid.
Contact {full}, {phone}. // Online coordinator, {full} // Agent: {name}{nn}@{badurl}""",
    "account": """{your account|{shop} account} {suspended|limited|on hold} // {unusual|new} sign-in {detected|attempt} // {action required|security notice} {code} // {verify|confirm} your {information|identity}
{We noticed unusual activity in|Your access has been limited on} your {shop} account. // {Dear customer|Dear {shop} member}, {during regular maintenance we could not verify your data|your account will be closed in {nn} hours}. // Someone from {city} tried to {log in|order with your card}.
{Please confirm your password and card number|Update your billing information} {to restore access|or your account will be deleted}. // {For your protection|To avoid suspension} sign in through the secure link. // {Failure to do so|Ignoring this message} {ends your service|leads to permanent closure}. // Have your {social security number|PIN and password} ready.
{Verify now|Secure login}: {badurl} // {badurl} // {shop} Security {Team|Department}""",
    "parcel": """{parcel|delivery} {code} {on hold|could not be delivered} // {your package|shipment} {is waiting|needs a fee} // customs {fee|notice}
{Your parcel {code}|A package in your name} is {held|stopped} at our {depot|customs office}. // {We tried to deliver|Our courier missed you} on {day}.
{A fee of {n}.{nn}|Payment of {money}} {is due|must be paid} {within {nn} hours|by card}. // {Otherwise it returns to the sender|Confirm your address and card} to {schedule a new delivery|release it}.
{Pay|Confirm} at {badurl} // {badurl}""",
    "boss": """{quick|small} {task|favour} // are you {free|at your desk} // {urgent|confidential} payment // request
{Are you at your desk?|I am in a meeting and cannot take calls}. // {Hi|Hello}, I need you to {handle something|run an errand} {discreetly|right now}.
{Buy {n} gift cards of {money} and send me photos of the codes|We must wire {money} to a new supplier before {time}}. // {I will reimburse you tonight|Do not mention it to anybody yet}. // {The auditors asked for all staff tax forms, send them|What details do you need for the transfer?}
{Reply to my private address|Sent from my tablet}. // {Thanks|Regards}, {full}, CEO // Let me know once it is done.""",
    "invoice": """{overdue|unpaid} invoice {id} // {payment|remittance} {advice|copy} // scanned document {code} // {purchase order|final reminder} {id}
{Please find attached|Kindly open} the {overdue invoice|payment copy|fax}. // {Your subscription to {shop} antivirus was renewed|You were charged} for {money}.
{Enable macros to view the document|Open the attached zip file}, {the password is {nn}|it is safe}. // {If you did not authorise this|To cancel the charge}, call {phone} within {nn} hours and {give remote access|have your card ready}. // Legal steps follow {today|tomorrow}.
Accounts {department|team} // {badurl} // Call {phone}.""",
    "tax": """{tax|benefit} {refund|payment} {available|{id}} // {final|legal} notice {code} // you are eligible for {money}
{After the annual calculation|Following a review} you are {eligible|due} to receive a {tax refund|grant} of {money}. // {An arrest warrant|A case} {was filed|is open} under your {social security number|name}.
{Submit your card details|Enter your bank login} so that we can {pay|credit} it. // {To avoid arrest|To settle}, pay {money} in {gift cards|bitcoin}. // The form expires on {date}.
{badurl} // Officer {full}, {phone} // Tax {credit|refund} office""",
    "mailbox": """{mailbox|storage} {full|quota exceeded} // {password|webmail} expires today // {n} {undelivered|pending} messages // IT {helpdesk|upgrade}
{Your mailbox is {nn}% full|Your password expires in {n} hours}. // {The administrator|IT help desk} is {upgrading all accounts|moving to a new server}. // {n} incoming mails {were blocked|are pending} on the server.
{Click below and log in|Reply with user name and password} to {keep your messages|avoid loss of access}. // {Unverified accounts are deleted|Only active users are kept}.
{Keep my password|Upgrade}: {badurl} // {badurl} // System administrator""",
    "survey": """{you won a|claim your} {phone|{money} voucher|gift card} // {answer {n} questions|customer survey} {reward|gift} // {shop} reward {code}
{Congratulations|Dear shopper}! You {are one of {n} people|have been chosen} to {receive|test} {the new phone|a {money} {shop} voucher|an air fryer}. // {Take our {nn} second survey|Answer {n} easy questions}.
{Only {n} left|The gift is reserved for {nn} minutes}. // {You just pay {n}.{nn} for shipping|Card needed for age check}. // {name} from {city} already received hers!
{Start|Claim}: {badurl} // {badurl}""",
    "blackmail": """I {know your password|recorded you} // {pay|read} this {now|carefully} // your {secret|device} {is not safe|was hacked}
{I installed a virus|I have full access} {on a site you visited|to your device}. // {Your password is {code}|I filmed you through your camera}.
{Send {money} in bitcoin|Transfer {money}} {within {nn} hours|or I publish the video}. // {All your contacts get the file|Do not go to the police}. // After the payment I delete everything.
Wallet: {code}{code}{code} // {The clock is ticking|You have {nn} hours}.""",
    "job": """{job offer|your resume} {code} // {mystery shopper|payment agent} wanted // {congratulations, you are hired|employment letter}
{We found your resume|Your profile was selected} for {a mystery shopper position|the post of payment agent}. // You start {at once|on {day}}, {no interview|salary {money} a week}.
{We send you a cheque, you keep {n}% and wire the rest|Receive transfers and forward them}. // {Send your ID and bank details|A training fee of {money} is refunded later}.
{Reply with name, age and account number|Contact HR {full}}, {phone} // {badurl}""",
}

SMS: tuple[str, ...] = (
    "{WINNER|URGENT|Congrats}! {Your mobile|Ur number} {has won|was awarded} a {money} {prize|bonus}. {Call|Claim on} {phone}{. Code {code}|}{ Valid {nn}hrs only|}", "{FREE|Win} {ringtones|{money} shopping spree|ticket to {city}}! {Txt|Text} {WIN|GO|PLAY} to {short}. {Cost {n}.{nn}/msg|18+|Stop? txt STOP}",
    "{shop}: {your account is locked|a new payee was added}. {Not you?|If this was not you} {visit|verify at} {badurl}", "{Ur|Your} {parcel|package} {code} {is held|awaits a fee of {n}.{nn}}. {Reschedule|Pay}: {badurl}", "{Hi|Hey} {its|it is} {name}, {bored 2nite|home alone}? {Chat|Flirt} with me on {short}, {nn}p/min 18+",
    "{Mum|Dad}, my phone broke, this is my new number. {Can you send {money}|I need to pay a bill today}, {message me here|write to {phone}}", "{Had an accident|Owed PPI}? You may be due {money}. Reply {YES|CLAIM} or STOP to opt out", "{Need cash|Low credit}? Get {money} today, {no checks|bad credit ok}: {badurl}",
    "{You have|U have} {n} new {voicemail|msg} from a secret admirer. {Call|Dial} {phone} {to hear it|2 find out}. {nn}p a min", "{Part time|Remote} job, {money} a day for {n} hours, no experience. {Contact|WhatsApp} {phone}", "{Last chance|FINAL NOTICE}: {claim|collect} your {shop} {reward points|voucher} at {badurl} before {day}",
    "Unlimited {calls and texts|data} for {money}? {Upgrade to a new|Get the latest} phone {free|today}: call {phone}", "{Tax office|Gov}: you have a refund of {money} pending. Apply {badurl}", "{Hello|Hi}, {is this {name}?|are we still on for golf?} {Sorry wrong number, you seem kind though|I am {name}, I trade {gold|crypto} in {city}, nice to meet you}",
    "{BIG SALE|Double discount} {carpets|sofas|gold} {nn}% off, {co} {city}, today only {badurl}", "{Bet {money} get {money}|{nn} free spins} at {badurl} {t&c apply|18+}", "Your {number|line} will be {blocked|disconnected} in {nn} hours, {update KYC|send your ID} {badurl}",
)  # fmt: skip

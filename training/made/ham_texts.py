# ruff: noqa: E501  (a table of texts, one part a line)
"""Wanted mail written for this project, in the form of `spam_texts`; many kinds speak of money, links, prizes or sales on purpose."""

from __future__ import annotations

PERSONAL: dict[str, str] = {
    "family": """{sunday|photos|grandma's birthday|hi from {city}} // {dinner|lunch} on {day}? // {news|hello} from {name} // finally!!!
{Hi|Hey|Dear} {name}, {sorry for the late reply|hope you are all well|guess what}! // {Mum|Dad|{name}} {says hi|got the new job|is feeling better}. // We {arrived in {city}|are back from the lake} {at last|last night}.
{The kids|{name} and the twins} {love the bike|have colds again|cannot wait to see you}!! // {Can you bring the cake|Who picks up grandma} on {day}? // I paid {money} for the {sofa|tickets|vet}, {unbelievable|can you believe it}! // {Pictures are here|I put the photos at} {url}. // The dog {ate my shoe|ran off and came back}.
{Love|Hugs|xx}, {name} // {Call me|Ring me} {tonight|after {time}}. // Miss you! {name}""",
    "friends": """{beer|pizza|football|movie} {on {day}|tonight}? // {party|camping|poker night} // re: {weekend|trip} // omg
{Are you in for|Anyone up for} {pizza|a film|five-a-side} on {day}? // {Dude|Man}, {that game was insane|what a night}!!! // {Remember|Guess who I met}: {name} from school.
{I can drive|Meet at {time}} {outside the station|at {name}'s}. // {You owe me {money}|Tickets are {money} each}, pay me {whenever|on {day}}. // {I won {money} on the lottery|We won the quiz}, drinks are on me! // {name} is {single again|moving to {city}}. // Check this out: {url}
{cheers|later|see you}, {name} // {lol|haha} see you {there|{day}} // {Let me know|Say yes}!""",
    "travel": """{trip|flights|train} to {city} // {itinerary|plan} for {month} // {who is driving|hotel} // re: holiday
{I looked at flights to {city}|Here is the plan for {city}}. // {We land|My train arrives} on {day} at {time}.
{The cheap fare is {money}|I can book the hotel for {money} a night}, {shall I take it|tell me by {day}}? // {Breakfast is included|Bring a raincoat}. // {name} {lends us the car|knows a good place to eat}. // Booking code {code}, all on {url}
{Can't wait|So excited}! {name} // {Ok for you?|Thoughts?} {name}""",
    "sale_private": """{selling|giving away} {my bike|the sofa|two tickets} // {spare|free} ticket for {day} // {garage|bake} sale
{I am selling my bike|We have two spare tickets} {for {money}|before we move}. // {The school|Our street} holds a {bake|garage} sale on {day}.
{It is almost new|Free if you collect it}! // {First come, first served|Tell {name} too}. // {All money goes to the library|Cash is fine}.
Call me, {phone}. {name} // {name} from {number {nn}|downstairs}""",
    "apology": """{sorry|about yesterday} // {thank you|thanks} so much // re: last night
{I am sorry about {day}|Thank you for the lovely evening}. // I {should have called|did not mean to shout|owe you dinner}.
{It meant a lot to me|I was tired and stupid}. // {Can we talk|Shall we have coffee} on {day}? // {The flowers are beautiful|You did not have to}!
{name} // {Yours|Love}, {name}""",
    "health": """{feeling better|hospital|update on {name}} // re: how is {dad|{name}}? // {bad|good} news
{Dad|{name}} {had his operation|came home} on {day} and {is eating again|sleeps a lot}. // {Thanks for asking|It was a long week}, {the doctor is pleased|we still wait for results}.
{He must lose some weight|She takes {n} pills a day now}, {poor thing|doctor's orders}. // {Visitors are welcome|Please no flowers}. // {The bill was {money}|Insurance pays most of it}. // {Pray for us|Keep your fingers crossed}!
{Love|Yours}, {name} // {Will write again|More} on {day}. {name}""",
    "hobby": """{chess|recipe|garden|guitar} {question|night} // the {soup|bread} recipe // {fantasy league|band practice} // {your|my} old {car|camera}
{You asked for|Here is} the recipe: {n} onions, {nn}0 g of flour, {n} eggs. // {Practice|Our game} is at {name}'s on {day}. // {I finally fixed|Still working on} the old {car|radio|boat}.
{The part cost me {money}|A man in {city} wants {money} for his}. // {Bake it for {nn} minutes|Tune the low string}. // {{name} leads the league by {n} points|We need a drummer}! // {Free tomatoes, we have far too many|Bring cards}!
{name} // {Tell me how it turns out|See you}, {name}""",
}
BUSINESS: dict[str, str] = {
    "meeting": """{meeting|call} {on {day}|moved to {time}} // {agenda|minutes} {date} // re: {thing} // {thing} - {co}
{Can we move our call to {day}|Please join us on {day}} {at {time}|in room {nn}}? // {Attached are the minutes|Here is the agenda} {from {day}|for {thing}}. // {name} asked me to {set up a meeting|circulate the notes}.
{We need to close|Please read} {thing} {before {day}|first}. // {name} will {present|walk us through} {thing}. // {Dial in|Call} {phone}, code {id}. // {Legal|{name}} still has {n} open questions on {thing}. // {Lunch is provided|Let me know if you cannot make it}.
{Thanks|Regards}, {full} // {name} // {Best|Kind regards}, {full}, {co}""",
    "deal": """{co} {contract|deal|agreement} // {revised|final} {numbers|pricing} {month} // fw: {co} {term sheet|invoice} // re: re: {thing}
{Please find attached|I have marked up} the {contract|term sheet|ISDA} with {co}. // {co} came back {with {money}|on price} {this morning|late {day}}. // {As discussed on the phone|Per our conversation}, {the volume is {nn},000|we agree to {money}}.
{Credit has approved up to {big}|The guarantee is {money}}. // {Please book this deal as number {id}|{name}, can you confirm the {month} volumes}? // {They want a decision|The offer stands} until {day}. // {I do not like section {n}|Tax should look at this}. // The {discount|margin} drops to {n}% above {nn} units.
{Call me with questions|Let me know}. {name} x{nn} // Thanks, {full} // {full}, {co}""",
    "hr": """{open enrollment|benefits} {year} // {vacation|expense} {policy|report} {reminder|{month}} // {all staff|welcome {full}} // payroll {month}
{Please submit your timesheets|Reports for {month} are due} by {day}. // {We are happy to announce|Please welcome} {full}, who {joins|moves to} {the finance team|operations} on {date}. // {Open enrollment ends|The new travel policy starts} on {date}.
{The health plan costs {money} a month|Bonuses are paid on {date}}. // {Free flu shots|Parking passes} are available {in room {nn}|at reception}. // {Questions go to {name}|See the intranet, {url}}. // {Act now: after {date} no change is possible|The office is closed on {day}}!
Human Resources // {full}, HR // {name}, ext. {nn}{nn}""",
    "invoice": """invoice {id} from {co} // {payment|statement} {month} // re: {purchase order|invoice} {id}
{Attached is our invoice {id}|Please find the statement} for {work in {month}|the {project}}. // {Our records show|We still miss} {money} for invoice {id}, {due {date}|dated {date}}.
{Payment terms are {nn} days|Our bank details have not changed}. // {If you have already paid, please ignore this|Please quote {id}}. // {The hours are listed on page {n}|Your PO number is {id}}.
{full}, accounts, {co} // Questions? {phone} // Thank you for your business! {name}""",
    "review": """[{project}] {fix|review|merge request} #{nn} // {build|pipeline} {failed|green again} // re: {crash|bug} in {project} // {patch|PR}: {project}
{I left {n} comments|Looks good to me apart from line {nn}}. // {The build|Test {nn}} {fails|broke} since {name}'s commit. // {Can you rebase|Please split} this {branch|change}?
{The loop on line {nn} never ends if the list is empty|A null check is missing}. // {I would rename {project}_id|Do we still need the old {project}}? // {Tests pass locally with version {n}.{n}|See the log at {url}}. // {Nice work|Great catch}!!
{Approving|Will merge} after that. {name} // - {name} // Thanks, {name}""",
    "list": """[{project}-{users|dev}] {install|question|bug} // re: [{project}] {release {n}.{n}|memory use} // {re: spam filter|re: free software licences} // {linux|python|perl} {question|tip}
On {day}, {date}, {full} wrote:\\n> {does anybody know why the {project} dies|I tried version {n}.{nn} and it fails}\\n> {any ideas|thanks in advance}? // {name} wrote:\\n> {you could make money with this|free as in beer}\\n>> {I doubt it|click on the icon}\\n // {Has anyone tried|Is there a way} to run the {project} {on a laptop|without root}?
{You need to|Try to} {upgrade|recompile|set the path} {first|and restart}. // {It is in the FAQ|See} {url}. // {That is a bad idea|I disagree}, {it breaks {nn}% of setups|the filter would drop real mail}. // The score for "viagra" {is too high in my rules|never fires here}. // Works for me on {n}.{n}, {kernel|libc} {n}.{nn}.
{name}\\n_______\\n{project}-users mailing list\\n{url} // -- \\n{full} // {hth|cheers}, {name}""",
    "support": """re: {your ticket|case} {id} // [#{id}] {login|refund|export} // {solved|update}: {id}
{Hi|Hello} {name}, {thanks for writing to us|I am sorry for the wait}. // {Your ticket {id} was updated|We looked into} {your question|the failed payment}.
{We refunded {money} to your card|The bug is fixed in {n}.{n}}. // {Please clear the cache|Could you send a screenshot}? // {No payment is due|We will never ask for your password}. // {The guide is at|Details:} {url}
{Best|Kind regards}, {name}, {shop} support // {Happy to help|Anything else}? {name}""",
    "client": """{quote|offer} you asked for // {samples|drawings} {for {co}|attached} // re: {our visit|your inquiry} // {interview|application} on {day}
{As you requested|Following your call on {day}}, {here is our offer|I attach the price list}. // {Thank you for coming|It was good to meet you} {on {day}|in {city}}. // {I am applying|Thank you for the interview} for the post of {analyst|engineer|nurse}.
{The price is {money}, {n}% off for {nn} units|Delivery takes {n} weeks}. // {The {n} changes you asked for are in|We can start on {date}}. // {My references are {full} and {full}|My CV is attached}.
{Looking forward to hearing from you|Please call with questions}, {full} // {full}, {co}, {phone}""",
    "academic": """{thesis|chapter {n}|exam} {draft|dates} // re: {seminar|homework} {n} // {reviews|camera ready} for paper {id} // lab {meeting|keys}
Dear {Professor|Dr} {last}, {I attach my draft of chapter {n}|may I hand in homework {n} on {day}}? // {Your paper {id} was accepted|The reviews for paper {id} are in}, congratulations. // {The seminar moves to room {nn}|Office hours are on {day} at {time}}.
{Reviewer {n} asks for a larger sample|Figure {n} needs units}. // {The fee for authors is {money}|Travel grants of {money} are open to students}. // {Please sign the form|The grades are on {url}}. // {My data were lost in the move|The experiment gave {nn} percent}.
{Best|Sincerely}, {full} // {full}, department of {physics|history|biology}""",
    "operations": """{outage|maintenance} on {day} // {capacity|gas|shift} {plan|schedule} {date} // {visitor|delivery} {day} // {hours|volumes} for {month}
{The servers are down|Gate {n} is closed} on {day} from {time}. // {Here are the volumes|Attached is the shift plan} for {date}. // {A delivery for {name}|A visitor from {co}} {arrives at {time}|is at reception}.
{Flow changes from {nn} to {nn} units|{name} takes over from {name}}. // {Save your work|Move your car} before {time}. // {Overtime is paid at {money} an hour|The repair costs {money}}. // {Thanks for your patience|Call {name} on {phone} if it fails}!
{name}, operations // {full} // IT {desk|team}, ext. {nn}""",
    "legal": """{nda|lease|settlement} {draft {n}|signature} // re: {co} v. {co} // {privileged|comments} {on|:} {thing} // {board|shareholder} {minutes|resolution}
{Attached is draft {n}|I reviewed} of the {lease|licence} with {co}. // {Counsel for {co} called|The court set a hearing} on {day}. // {Please sign page {n}|We need board approval} for {thing}.
{They offer {big} to settle|The cap should be {money}}. // {This is confidential|Do not forward}, {please|it is privileged}. // {Clause {n}.{n} is not acceptable|I have no further comments}. // {Originals follow by courier|{name} holds the signature pages}.
{full}, {legal|counsel} // Regards, {full}, {co} // {name}""",
}
NOTICE: dict[str, str] = {
    "order": """{order|receipt} {id} // {your order|parcel} {has shipped|is on its way}! // {thank you|thanks} for your order // {booking|reservation} {code} confirmed
{Thank you for your order|Hi {name}, thanks for shopping with us}! // {Your order {id}|The parcel with your {shoes|books|lamp}} {has left our warehouse|arrives on {day}}. // Your {booking|ticket} for {city} on {date} is confirmed.
{Total: {money}, paid by card ending {nn}{nn}|You paid {money}}. // {Track it|Follow the parcel} at {url}. // {Return it free within {nn} days|No action is needed}. // {n} x {mug|blue shirt|novel|charger}, {money}
{shop} // {See you soon|Enjoy}! The {shop} team // Questions? {url}""",
    "bank": """{statement|balance} {month} // {payment|transfer} {received|sent} // {new sign-in|password changed} // your code {id}
{Your {month} statement is ready in the app|You sent {money} to {full}}. // {You signed in on a new phone|Your password was changed} on {date}. // {Your code is {id}|{id} is your sign-in code}.
{If this was you, there is nothing to do|It expires in {n} minutes}. // {Open the app as usual|We never ask for your PIN by mail}. // Your balance is {money}.
{shop} // {This is an automatic message|Please do not reply}.""",
    "reminder": """{appointment|dentist} on {date} // {your books are due|library notice} // {parents' evening|school trip} {date} // {bin collection|water} {notice|works}
{This is a reminder of|You have} your {dentist|haircut|eye} appointment on {day} at {time}. // {{n} books are due|Your hold is ready} {on {date}|at the {city} library}. // {Class {n}b goes|The school trip goes} to {city} on {date}.
{Call {phone} if you cannot come|Please arrive {nn} minutes early}. // {The cost is {money}|Please bring {money} and lunch}. // {Renew online|Sign the form}: {url}
{Reception|The practice} // {Ms|Mr} {last} // {city} library""",
    "system": """{backup|job} {finished|failed} // [{alert|cron}] {project} {nn}% disk // {name} {commented|invited you} // {calendar|invitation}: {thing}
{The nightly backup of {project} finished|Job {id} failed with code {n}}. // {name} {mentioned you|shared a file with you|invited you to {thing}}.
{Disk {n} is at {nn}%|Run time {nn} s}. // {Open|View}: {url} // {Started {time}|{nn} files copied, {n} skipped}.
{You get this mail because you follow {project}|Change your notification settings at any time}. // {url}""",
    "service": """your {bill|plan|subscription} {month} // {renewal|trial} {notice|reminder} // {parking|utility} {receipt|notice} // welcome to {shop}!
{Your subscription renews|Your trial ends} on {date} {for {money}|as agreed}. // {Welcome to {shop}, {name}!|Thanks for signing up!} // {Your {month} bill is {money}|We received {money}} for contract {id}.
{You can cancel at any time in your account|Nothing changes if you do nothing}. // {Payment is by direct debit|The receipt is attached}. // {Confirm your address|Start here}: {url} // {You have {nn}0 points|Save up to {n}% with paperless billing}!
{shop} customer service // {url}""",
    "school_job": """{your application|interview} {id} // {shift|rota} {day} // {course|exam} {registration|result} // {ticket|seat} {code}
{We received your application|Your interview is on {day} at {time}} {for post {id}|in {city}}. // {You are registered|Your seat is booked} for {the course on {day}|exam {id}}. // {Your shift on {day} starts at {time}|{name} swapped shifts with you}.
{Bring your ID|Room {nn}}. // {The fee of {money} was paid|You earn {money} an hour}. // {Reply if you cannot come|Directions}: {url} // {Congratulations|Well done}!
{city} college // {full}, {co} // {Do not reply|Automatic message}""",
}
NEWSLETTER: dict[str, str] = {
    "tech": """{project} {weekly|digest} {id} // {what is new|changes} in {n}.{n} // {this week|five links} // {morning|tech} {briefing|news} {date}
{Welcome to issue {nn}|Here is your weekly digest}. // {You asked for these updates|Good morning}, {here are today's stories|{n} things to read}.
{A look at how {co} rebuilt its {project}|Interview with {full} on testing}. // {Oil falls to {money} a barrel|{co} buys {co} for {big}}. // {Tip of the week|Podcast}: {url} // {Early tickets for our meeting in {city} are {money}|We are hiring}! // A reader from {city} asks how to {speed up|debug} the {project}.
{You subscribed with your address on {date}|Unsubscribe}: {url} // See you next {day}! {name} // Forward this to a friend. {url}""",
    "shop": """{your member|loyalty} {points|offer} // {new in|spring sale} at {shop} // {nn}% off for members, {name} // {back in stock|your wishlist}
{Hi {name}, your {shop} points|As a member since {year} you} {are worth {money}|save {nn}% this weekend}! // {The lamp on your wishlist is back|New arrivals in the shop where you bought your {boots|desk}}.
{Use code {code} until {day}|Free delivery above {money}}! // {Come to our {city} store|Meet us} on {day}. // {The sale starts now|Your birthday gift is waiting in store}!
{You get this as a customer of {shop}. Unsubscribe|Change what we send you}: {url} // {shop}, {nn} High Street, {city}""",
    "club": """{choir|club|parish} {news|letter} {month} // {match|concert} on {day} // {charity|run} {month}: thank you! // alumni {news|evening}
{Dear members|Hello runners}, {the season starts on {date}|here is the {month} news}. // {Thanks to you we raised {money}|Our concert is on {day} at {time}}!
{Fees of {money} are due by {date}|Please bring a cake}. // {Win a hamper in our raffle|{name} is looking for drivers}! // {Minutes of the last meeting are at|Photos:} {url}. // {full} retires after {nn} years.
{full}, secretary // Your committee // To leave this list write to {name}.""",
    "town": """{city} {council|museum|theatre} {news|programme} // {road works|market} from {date} // what is on in {month} // {university|faculty} {bulletin|digest}
{This month in {city}|Our {month} programme is out}: // {The {city} market moves|High Street is closed} from {date}.
{Free entry on {day}|Tickets from {money}}! // {The lecture by {full} starts at {time}|Guided tours every {day}}. // {Students pay half|Book at {url}}. // Exhibition: {year} in pictures, hall {n}.
{Your subscription|Unsubscribe}: {url} // {city} council, {phone}""",
    "finance": """{market|money} {brief|letter} {date} // {stocks|bonds} this {week|morning} // {co} {beats|misses} forecasts // your {weekly|daily} market summary
{Markets closed {n} points lower|Oil, gold and bonds}: here is {the day|your digest}. // {Good morning from {city}|Dear subscriber}, {{co} reports today|the central bank met on {day}}.
{{co} rose {n}% after it sold {big} of loans|Analysts cut {co} to hold}. // {We do not give investment advice|Past results say nothing of the future}. // {Reader question|Explainer}: {are rates of {n}.{n}% here to stay|how do mortgages work}? // {Our podcast|The chart}: {url}
{You signed up on {date}|Manage your subscription}: {url} // {full}, editor""",
    "travel_club": """{fares|deals} you follow: {city} // {miles|points} {statement|summary} {month} // {member|cabin} {news|offers} {month} // win a {weekend|night} in {city}
{Fares on your watch list changed|Here is your miles summary}, {name}. // {As a gold member|Since you flew with us in {month}} you {have {nn}00 miles|board first}!
{{city} from {money}, {city} from {money}|Book by {day} and save {nn}%}! // {Miles expire on {date}|Double points in {month}}. // {Members can win a weekend in {city}|New lounge in {city}}! // {Tips for families|Packing list}: {url}
{You chose to get this mail|Change your alerts}: {url} // {shop}, {city}""",
}
SMS: tuple[str, ...] = (
    "{ok|k|sure|yep}, {see you|c u|meet} {at {time}|in {nn} min|{day}}{ :)|!|}", "{Running|Im} {late|{nn} min late}, {start without me|sorry|traffic in {city} is awful}", "{Did|Have} {you|u} {eat|eaten|call mum} {yet|today}? {I|Im} {made soup|starving}{ lol|}", "{Can you|Pls} {buy|get} {milk|bread and eggs|{n} lemons} {on the way|2day}? {ta|thx|x}",
    "{Happy birthday|Congratulations} {name}!!! {Have a great day|So proud of you|Free drinks tonight!} {xx|love {name}|}", "{Your|Hi {name}, your} {appointment|table} is {on {day} at {time}|confirmed for {time}}. {Call {phone} to change|{shop}}", "{shop}: {your code is {id}|your driver arrives at {time}|order {id} is ready to collect}", "{Sorry|Cant talk}, {in a meeting|on the train|in class}. {Call you|Text u} {later|at {time}}",
    "{I|Just} {won|got} {money} on {the lottery|a bet}, {dinner is on me|cant believe it}!!", "{Meeting|Class} {moved to {time}|is in room {nn}}{, tell {name}|}", "{What time|When} {does the film start|are you home|is {name} coming}?", "{Dont forget|Remember} {the keys|to pay {name} {money}|grandma is coming {day}}{!|}",
    "{Love you|Miss you}{ loads|}, {sleep well|call me when u land} {xx|{name}|}", "{Check out|Look at} {this|the photos} {url}{ haha|, thats us in {city}|}", "{I transferred|Sent u} {money} {for the tickets|for rent}, {tell me when it is there|thanks again}", "{Free|You free} {on {day}|tonight}? {name} {is in town|wants to play tennis}",
    "{Urgent|Quick}: {are you home|did you lock the door}? {The alarm rang|I cant find my wallet}", "{Prize giving|Raffle} at school is {day} {time}, {we won a basket|{name} got first prize}!", "{Rain again|Its snowing} in {city}{ :(|, staying in|. Hope ur ok}", "{Your|Ur} {bill for {month} is {money}|balance is {money}}, {paid by direct debit|due {date}}. {shop}",
)  # fmt: skip

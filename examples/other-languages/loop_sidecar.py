#!/usr/bin/env python3
"""Keeps 0.01 BTC on a live account, behind a sidecar: loop.py without its file, its keys and its retries.

    TRADING_BASE_URL=http://127.0.0.1:8700/v1 TRADING_LIVE_KEY=pk_live_local_… TRADING_ACCOUNT=… loop_sidecar.py [SECONDS]

What it did not hear it decides again. The sidecar refuses that until it has read what became of the first."""
import http.client, json, os, sys, time
from urllib.parse import urlsplit

base, account = urlsplit(os.environ["TRADING_BASE_URL"]), os.environ["TRADING_ACCOUNT"]


def send(method, path, body=None):
    connection = http.client.HTTPConnection(base.netloc, timeout=40)
    try:
        connection.request(method, base.path + path, body, {"X-API-Key": os.environ["TRADING_LIVE_KEY"]})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, {}
    finally:
        connection.close()


while True:
    status, data = send("GET", "/positions?accountId=" + account)
    if status == 200 and not any(p["symbol"] == "BTC" for p in data["positions"]):
        order = {"accountId": account, "symbol": "BTC", "side": "long", "size": 0.01, "leverage": 2}
        status, data = send("POST", "/orders", json.dumps(order))
        print(status, data, flush=True)
        if data.get("error") in ("account_locked", "ACCOUNT_LOCKED", "DAILY_DRAWDOWN_BREACH", "GLOBAL_DRAWDOWN_BREACH"):
            sys.exit(3)  # the account takes no more entries: a person has to look
    time.sleep(float(sys.argv[1]) if sys.argv[1:] else 60)

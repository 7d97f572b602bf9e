#!/usr/bin/env python3
"""How not to do it: buys 0.01 BTC, and again if the reply is lost. Simulator only."""
import http.client, json, os, time
from urllib.parse import urlsplit

base = urlsplit(os.environ["TRADING_BASE_URL"])
order = {"accountId": os.environ["TRADING_ACCOUNT"], "symbol": "BTC", "side": "long", "size": 0.01, "leverage": 2}
for attempt in range(3):
    connection = http.client.HTTPConnection(base.netloc, timeout=10)
    try:
        connection.request("POST", base.path + "/orders", json.dumps(order),
                           {"X-API-Key": os.environ["TRADING_LIVE_KEY"], "Content-Type": "application/json"})
        print("placed:", connection.getresponse().read().decode())
        break
    except (OSError, http.client.HTTPException) as err:
        print("no answer, so it is sent again:", err)  # and there is no key that says which order it is
        time.sleep(0.5)
    finally:
        connection.close()

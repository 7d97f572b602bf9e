"""Opens and closes three times, and reads in between: calm.py ACCOUNT"""
import json, os, sys, time, urllib.error, urllib.request

answers = {}


def send(path, body=None):
    request = urllib.request.Request(os.environ["TRADING_BASE_URL"] + path, body and json.dumps(body).encode(), {"X-API-Key": os.environ["TRADING_LIVE_KEY"]})
    try:
        with urllib.request.urlopen(request, timeout=40) as reply:
            status = reply.status
    except urllib.error.HTTPError as refusal:
        status = refusal.code
    answers[status] = answers.get(status, 0) + 1


for _ in range(3):
    send("/orders", {"accountId": sys.argv[1], "symbol": "BTC", "side": "long", "size": 0.01, "leverage": 2})
    for _ in range(5):
        time.sleep(0.1)
        send("/positions?accountId=" + sys.argv[1])
    send("/positions/close", {"accountId": sys.argv[1], "symbol": "BTC"})
print("answered", json.dumps(answers))

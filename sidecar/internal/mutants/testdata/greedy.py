"""Opens, reads until it is told to stop and long after, and closes: greedy.py ACCOUNT"""
import http.client, json, os, sys
from urllib.parse import urlsplit

base, account, answers = urlsplit(os.environ["TRADING_BASE_URL"]), sys.argv[1], {}
connection = http.client.HTTPConnection(base.netloc, timeout=40)


def send(method, path, body=None):
    connection.request(method, base.path + path, body and json.dumps(body), {"X-API-Key": os.environ["TRADING_LIVE_KEY"]})
    reply = connection.getresponse()
    reply.read()
    return reply.status


print("opened", send("POST", "/orders", {"accountId": account, "symbol": "BTC", "side": "long", "size": 0.01, "leverage": 2}))
for _ in range(700):
    status = send("GET", "/positions?accountId=" + account)
    answers[status] = answers.get(status, 0) + 1
print("reads", answers.get(200, 0), "refused", answers.get(429, 0))
for i in range(40):  # what does not get out at once must not keep it in
    send("POST", "/orders/cancel", {"accountId": account, "orderId": "x"})
print("closed", send("POST", "/positions/close", {"accountId": account, "symbol": "BTC"}))

"""Wants one position, and goes on when a call takes too long, without ending that call.

left.py CLIENT, which is urllib or requests. The environment says where, and what it does then."""
import concurrent.futures, json, os, sys, time, uuid

client, how = sys.argv[1], os.environ["LEFT_HOW"]
base, patience = os.environ["LEFT_URL"], float(os.environ["LEFT_PATIENCE"])
threads = concurrent.futures.ThreadPoolExecutor(64)

if client == "requests":
    import requests

    session = requests.Session()

    def call(method, path, body, headers):
        answer = session.request(method, base + path, data=body, headers=headers)
        return answer.status_code, answer.text
else:
    import urllib.error, urllib.request

    def call(method, path, body, headers):
        try:
            with urllib.request.urlopen(urllib.request.Request(base + path, body, headers, method=method)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()


def ask(method, path, body=None, key=None):
    """An answer; 0 if it did not come in time, and -1 if it cannot come."""
    headers = {"X-API-Key": os.environ["LEFT_KEY"], "Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    future = threads.submit(call, method, path, body.encode() if body else None, headers)
    try:
        return future.result(timeout=patience)
    except concurrent.futures.TimeoutError:
        return 0, ""
    except Exception as err:
        return -1, repr(err)


def has():
    status, text = ask("GET", "/positions?accountId=acc_1")
    return len(json.loads(text)["positions"]) > 0 if status == 200 else None


def placed():
    print("placed", flush=True)
    os._exit(0)  # its calls with it


n, number = 0, 0
if has() and how != "keyed":  # from an earlier run
    placed()
for end in [time.time() + 120]:
    while time.time() < end:
        n += 1
        size = n if how == "changes" else 1
        key = {"keyed": f"entry-{number}", "renews": str(uuid.uuid4()), "hasty": str(uuid.uuid4())}.get(how)
        status, text = ask("POST", "/orders", '{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0%d,"leverage":2}' % size, key)
        if n > 1:
            print("again", flush=True)
        if status == 200:
            placed()
        if how in ("keyed", "hasty") and status == 0:
            continue
        if how != "keyed" or status == 422 or "idempotency_result_unknown" in text:
            is_there = has()
            if is_there:
                placed()
            if is_there is False:
                number += 1
        time.sleep(0.2)
print("gave up:", status, text, flush=True)
os._exit(0)

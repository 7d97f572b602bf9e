"""Opens and closes a position some times, and does what it knows about answers that it does not hear.

mutants.py HOW ROUNDS"""
import http.client, json, os, socket, sys, time, uuid
from urllib.parse import urlsplit

how, rounds = sys.argv[1], int(sys.argv[2])
base = urlsplit(os.environ["TRADING_BASE_URL"])
headers = {"X-API-Key": os.environ["TRADING_LIVE_KEY"], "Content-Type": "application/json"}
timeout = 0.3 if how == "timeout" else 45
end = time.time() + 50 + 25 * rounds

if how == "library":
    import requests
    from urllib3.util import Retry

    session = requests.Session()
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=Retry(total=4, allowed_methods=None, status_forcelist=[429, 502, 503], backoff_factor=0.2)))


def half_closed(method, path, body):
    with socket.create_connection((base.hostname, base.port), timeout=timeout) as s:
        lines = [f"{method} {base.path}{path} HTTP/1.1", f"Host: {base.netloc}", "Connection: close", f"Content-Length: {len(body)}"]
        s.sendall("\r\n".join(lines + [f"{k}: {v}" for k, v in headers.items()] + ["", body]).encode())
        s.shutdown(socket.SHUT_WR)
        answer = http.client.HTTPResponse(s)
        answer.begin()
        return answer.status, json.loads(answer.read())


kept = None


def send(method, path, body="", key=None):
    """An answer, or 0 without one."""
    global kept
    try:
        if how == "library":
            answer = session.request(method, base.geturl() + path, data=body, headers=headers, timeout=timeout)
            return answer.status_code, answer.json()
        if how == "halfclosed":
            return half_closed(method, path, body)
        connection = kept or http.client.HTTPConnection(base.netloc, timeout=timeout)
        kept = connection if how != "nosession" else None
        connection.request(method, base.path + path, body, headers | ({"Idempotency-Key": key} if key else {}))
        answer = connection.getresponse()
        result = answer.status, json.loads(answer.read())
        if how == "nosession":
            connection.close()
        return result
    except Exception as err:
        if kept:
            kept.close()
            kept = None
        return 0, {"error": repr(err)}


def size():
    """How much is open, or None."""
    status, data = send("GET", "/positions?accountId=acc_1")
    if status != 200 or "positions" not in data:
        return None
    return sum(round(p["size"] * 1000) for p in data["positions"])


def until(path, want, **order):
    """Asks until it hears that it was done, or sees it."""
    body = json.dumps({"accountId": "acc_1", "symbol": "BTC"} | order)
    key = str(uuid.uuid4()) if how in ("newkey", "decides") else None
    while time.time() < end:
        status, data = send("POST", path, body, key)
        if status == 200:
            if size() not in (want, None):
                sys.exit(f"it was told that {path} was done, and sees {size()}, not {want}")
            return
        print(path, status, data.get("error"), data.get("reason"), file=sys.stderr)
        if key:
            key = str(uuid.uuid4())
        if how == "decides" or data.get("error") == "idempotency_result_unknown" or 400 <= status < 429 or status == 500:
            if size() == want:
                return
        time.sleep(0.3)
    sys.exit(f"it gave up: {path}, and sees {size()}, not {want}")


for i in range(rounds):
    until("/orders", 20, side="long", size=0.02, leverage=2)
    if how == "reopens":
        until("/positions/close", 10, closePercent=50)
        until("/orders", 30, side="long", size=0.02, leverage=2)
        until("/positions/close", 15, closePercent=50)
    until("/positions/close", 0)
    print("round", i)

"""Sends a request for each line of its input, and says whether it heard the answer.

client.py HOW ADDRESS, where HOW is plain, session or once; each line is: NUMBER SECONDS"""
import http.client, socket, sys

how, address = sys.argv[1:]


class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(address)


def plain(path, seconds):
    connection = Unix("x", timeout=seconds) if address.startswith("/") else http.client.HTTPConnection(address, timeout=seconds)
    try:
        connection.request("POST", path, b"{}")
        return connection.getresponse().read()
    finally:
        connection.close()


if how == "plain":
    ask = plain
else:
    import requests

    kept = requests.Session()
    post = kept.post if how == "session" else requests.post

    def ask(path, seconds):
        return post("http://" + address + path, data=b"{}", timeout=seconds).content


for line in sys.stdin:
    number, seconds = line.split()
    try:
        heard = len(ask("/" + number, float(seconds))) > 0
    except Exception:
        heard = False
    print(number, "heard" if heard else "not", flush=True)

"""served.py URL PID: what the server of `rtl view` answers, and to whom. Ends it with SIGINT."""
import http.client
import os
import re
import signal
import socket
import sys
import time

url, pid = sys.argv[1], int(sys.argv[2])
failures = 0


def must(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"does not hold: {what}", file=sys.stderr)


def ask(path, method="GET", host=None, body=None):
    """Status, headers and body of an answer; `host` in place of the right one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    for name in [f"127.0.0.1:{port}"] if host is None else host:
        connection.putheader("Host", name)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    answer = connection.getresponse()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()


found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", url)
must(found, f"'{url}' is an address with 128 random bits")
port, base = int(found[1]), found[2]

# The page, for those who know the token.
status, headers, page = ask(base)
must(status == 200 and page.startswith(b"<!doctype html>") and b'id="rtl-head"' in page, "the page is there")
must(headers["content-type"] == "text/html; charset=utf-8", "it is HTML")
must(b"rtlPage.start('window')" in page and b"connect-src 'self'" in page, "it may ask for windows")
status, headers, window = ask(base + "window?from=0&to=1000000000000")
must(status == 200 and len(window) > 100, "a window is there")
must(ask(base + "window?from=0&to=1000000000000")[2] == window, "and the same when asked again")
must(ask(base + "window?from=9000000000000000&to=18446744073709551615")[0] == 200, "one with nothing in it, too")
for what in (base, base + "window?from=0&to=5", base + "nothing"):
    _, headers, _ = ask(what)
    must(headers["cache-control"] == "no-store", f"{what} is kept by nobody")
    must("default-src 'none'" in headers["content-security-policy"] and "frame-ancestors 'none'" in headers["content-security-policy"],
         f"{what} has a policy")
    must(not [name for name in headers if name.startswith("access-control")], f"{what} is for no other site")
status, headers, body = ask(base, "HEAD")
must(status == 200 and body == b"" and int(headers["content-length"]) == len(page), "HEAD tells of the page")
must(ask(base, host=[f"localhost:{port}"])[0] == 200, "localhost is this machine")

# Nobody else.
other = base[:5] + ("0" if base[5] != "0" else "1") + base[6:]
for path in ("/", "/window?from=0&to=5", other, other + "window?from=0&to=5", base[:-1], base[:-2] + "/", base + "x", base + "window/", "//",
             base + "../" + "0" * 32 + "/", "/" + "0" * 4000):
    must(ask(path)[0] == 404, f"{path[:80]} is nothing")
for host in ([], ["evil.example"], [f"evil.example:{port}"], ["127.0.0.1"], [f"127.0.0.1:{port + 1}"], [f"127.0.0.1:{port}.evil.example"],
             [f"[::1]:{port}"], [""]):
    must(ask(base, host=host)[0] in ((400, 403) if host in ([], [""]) else (403,)), f"Host {host} is refused")
for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "BREW"):
    status, headers, _ = ask(base, method, body=b"abc" if method == "POST" else None)
    must(status == 405 and headers["allow"] == "GET, HEAD", f"{method} is refused")
for query in ("", "?from=1", "?to=1", "?from=5&to=5", "?from=6&to=5", "?from=-1&to=5", "?from=x&to=5", "?from=0&to=18446744073709551616", "?from=&to="):
    must(ask(base + "window" + query)[0] == 400, f"window{query} is no window")

# It listens at the loopback address alone.
inodes = set()
for name in os.listdir(f"/proc/{pid}/fd"):
    target = os.readlink(f"/proc/{pid}/fd/{name}")
    inodes |= set(re.findall(r"^socket:\[(\d+)\]$", target))
listening = []
for table in ("tcp", "tcp6", "udp", "udp6"):
    if os.path.exists(f"/proc/net/{table}"):
        with open(f"/proc/net/{table}", encoding="ascii") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        listening += [(table, row[1]) for row in rows if row[9] in inodes and (row[3] == "0A" or table.startswith("udp"))]
must(listening == [("tcp", f"0100007F:{port:04X}")], f"it listens at 127.0.0.1 alone: {listening}")

# Who leaves in the middle, or says what is no HTTP, disturbs nobody.
for request in (f"GET {base} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", f"GET {base}window?from=0&to=9000000000000000 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n",
                "\0\r\n\r\n", "GET"):
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
            client.sendall(request.encode())
must(ask(base)[2] == page, "the page is still there")
with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
    deadline = time.monotonic() + 60
    while file.read().strip() and time.monotonic() < deadline:
        time.sleep(0.05)
        file.seek(0)
must(time.monotonic() < deadline, "nobody works for those who have left")

os.kill(pid, signal.SIGINT)
sys.exit(1 if failures else 0)

#!/usr/bin/env python3
"""llama_requests.py MODEL TOKENS REQUESTS: starts llama-server, has it answer so many requests of so many tokens each,
one after the other, with prompts of different lengths, and ends it."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

model, tokens, requests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
path = os.path.join(tempfile.mkdtemp(), "server.sock")
patience = 60


class Connection(http.client.HTTPConnection):
    """To a socket that has a path."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(patience)
        self.sock.connect(path)


def ask(method, where, body=None):
    connection = Connection("localhost")
    connection.request(method, where, body and json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def is_ready():
    try:
        return ask("GET", "/health")[0] == 200
    except OSError:
        return False


server = subprocess.Popen(["llama-server", "-m", model, "-ngl", "99", "-np", "2", "-c", "1024", "--host", path])
try:
    deadline = time.monotonic() + patience
    while not is_ready():
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("llama-server is not there")
        time.sleep(0.1)
    for request in range(requests):
        prompt = " ".join(f"w{word}" for word in range(10 * request, 20 * request + 5))
        status, answer = ask("POST", "/completion", {"prompt": prompt, "n_predict": tokens, "ignore_eos": True,
                                                     "temperature": 0, "cache_prompt": False})
        if status != 200 or answer["tokens_predicted"] != tokens:
            sys.exit(f"a request was answered with {status}: {answer}")
finally:
    server.send_signal(signal.SIGINT)
    server.wait()
sys.exit(server.returncode)

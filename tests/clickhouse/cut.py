"""Ways to a server: one on which connections break, within a request, or before the answer to one that the server has
had; and one on which some queries are answered by somebody else."""
import http.server
import random
import socket
import threading
import urllib.request


class Cutting:
    """Listens on `url`; of connections a `share` is cut, at places that follow from `seed`. `cuts` counts them."""

    def __init__(self, server, seed, share):
        self.target = ("127.0.0.1", server.http)
        self.random, self.share, self.cuts = random.Random(seed), share, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            request = answer = None
            if self.random.random() < self.share:
                if self.random.random() < 0.5:
                    request = self.random.choice([1, 300, 1000, 20000, 200000])
                else:
                    answer = 0
            threading.Thread(target=self.serve, args=(client, request, answer), daemon=True).start()

    def serve(self, client, request, answer):
        with client, socket.create_connection(self.target) as server:
            there = threading.Thread(target=self.copy, args=(client, server, request), daemon=True)
            there.start()
            self.copy(server, client, answer)
            for side in (client, server):
                try:
                    side.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            there.join()

    def copy(self, source, target, most):
        """Until the source ends, or `most` bytes have gone over: then both are cut."""
        gone = 0
        try:
            while data := source.recv(65536):
                if most is not None and gone + len(data) > most:
                    target.sendall(data[:most - gone])
                    self.cuts += 1
                    for side in (source, target):
                        side.shutdown(socket.SHUT_RDWR)
                    return
                target.sendall(data)
                gone += len(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


class Instead:
    """Listens on `url`: queries with `word` in them are answered with `text`, others by the server."""

    def __init__(self, server, word, text):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                query = self.rfile.read(int(self.headers["Content-Length"]))
                if word.encode() in query:
                    answer = text.encode()
                else:
                    with urllib.request.urlopen(urllib.request.Request(server.url + self.path, query)) as asked:
                        answer = asked.read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *words):
                pass

        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.listener.shutdown()
        self.listener.server_close()

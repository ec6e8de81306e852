"""A command on a terminal of its own, as wide as a test wants it."""
import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

END = b"\0end\0"


def run(command, columns, **environment):
    """Its exit status, what it wrote to the terminal, what it wrote to stderr."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(command, stdout=follower, stderr=subprocess.PIPE,
                             env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    status = []

    # Closing the last follower may throw away what the leader has not read yet: the end is told by a word of our own.
    def end():
        status.append(child.wait())
        os.write(follower, END)

    waiter = threading.Thread(target=end)
    waiter.start()
    output = b""
    while not output.endswith(END):
        output += os.read(leader, 65536)
    waiter.join()
    os.close(follower)
    os.close(leader)
    return status[0], output[: -len(END)].decode().replace("\r\n", "\n"), child.stderr.read()

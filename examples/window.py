"""window.py: ten steps in the middle of a server, in each of its worker processes.

    RTL_START=off rtl trace -o serve.db -- vllm serve MODEL        # or sglang.launch_server, torchrun
    rtl steps serve.db

A worker wraps what runs one step of its model, say in a plug-in or in sitecustomize.py:

    import window
    window.record(Worker, "execute_model", first=200, steps=10)

Steps before and behind the window run as they do without RTL. Each in it is a range. Without RTL in the process nothing
is recorded and nothing changes.
"""
import functools

import rtl


def record(owner, name, first, steps):
    """Replaces a method: its calls `first` to `first + steps - 1`, counted from 0 in this process, are recorded."""
    step = getattr(owner, name)
    done = 0

    @functools.wraps(step)
    def recorded(*arguments, **named):
        nonlocal done
        number, done = done, done + 1
        if number == first:
            rtl.start()
        try:
            if not first <= number < first + steps:
                return step(*arguments, **named)
            with rtl.range(f"{name} {number}"):
                return step(*arguments, **named)
        finally:
            if number == first + steps - 1:
                rtl.stop()

    setattr(owner, name, recorded)

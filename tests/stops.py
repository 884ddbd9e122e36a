#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether a program stops within one second of a signal or of its time limit, whatever it is at.

tests/stops.py PROGRAM WORK TERM|INT|HUP|LIMIT [SEED]

Each line of the file WORK is the arguments of one command that would take long. It runs alone, and some time after its start (by
chance, from 0.1 to 1.2 s: while it loads, builds, compiles or renders) it is sent the signal, or its --timeout passes.

A machine with other work is late by itself. So a control runs beside each: it computes without an end, is told to stop at the
same moment, stops GRACE later by a timer as the program's last resort does, and clears nothing away. What it takes beyond GRACE
the machine took. A command that was late by no more than its control was is not judged but run again; one that is later
failed. What could not be judged in TRIES is an error: no such pass is counted.
Exit status: 0 all stopped within a second, 1 one did not, or was never judged."""
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time

MOST, GRACE, TRIES = 1.0, 0.7, 8
STATUS = {"TERM": 143, "INT": 130, "HUP": 129, "LIMIT": 1}


class Late(Exception):
    pass


def control_run():
    """In a process of its own; a signal arms the timer, which ends it."""
    signal.signal(signal.SIGTERM, lambda *_: signal.setitimer(signal.ITIMER_REAL, GRACE))
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    print("ready", flush=True)
    while True:
        pass


def ended(process, begin):
    """Seconds from `begin` to its end."""
    process.wait(timeout=60)
    return time.monotonic() - begin


def said():
    with open("stderr", errors="replace") as f:
        return f.read()[-500:]


def once(program, words, how, moment):
    """How long it and its control took."""
    limit = ["--timeout", f"{moment:.3f}"] if how == "LIMIT" else []
    control = subprocess.Popen([sys.executable, __file__, "control"], stdout=subprocess.PIPE)
    process = None
    try:
        control.stdout.readline()
        with open("stdout", "wb") as out, open("stderr", "wb") as err:
            begin = time.monotonic()
            process = subprocess.Popen([program, *words, *limit], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        time.sleep(max(0.0, begin + moment - time.monotonic()))
        if process.poll() is not None and how != "LIMIT":
            raise Late(f"ended with {process.returncode} before it was told to: {said()}")
        begin = begin + moment if how == "LIMIT" else time.monotonic()
        control.terminate()
        if how != "LIMIT":
            process.send_signal(getattr(signal, f"SIG{how}"))
        took = ended(process, begin)
        late = ended(control, begin) - GRACE
    except subprocess.TimeoutExpired:
        raise Late("lived on for a minute") from None
    finally:
        for p in (process, control):
            if p and p.poll() is None:
                p.kill()
                p.wait()
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    if status != STATUS[how]:
        raise Late(f"status {status}, expected {STATUS[how]}: {said()}")
    if how == "LIMIT" and not re.search("the limit of [0-9.]+ s passed", said()):
        raise Late(f"the limit is not named: {said()}")
    return took, late


def judge(program, line, how, chance):
    """The time that counts."""
    for _ in range(TRIES):
        moment = chance.uniform(0.1, 1.2)
        took, late = once(program, shlex.split(line), how, moment)
        if took <= MOST:
            return moment, took, late
        if took - late > MOST:
            raise Late(f"{took:.3f} s, of which the machine took {late:.3f}, when stopped at {moment:.3f} s")
    raise Late(f"not judged: the machine was late {TRIES} times")


def main():
    program, work, how = sys.argv[1:4]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 32)
    chance, status, worst = random.Random(seed), 0, 0.0
    print(f"{how}, seed {seed}")
    with open(work, encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip()]
    for line in lines:
        try:
            moment, took, late = judge(program, line, how, chance)
            worst = max(worst, took)
            print(f"{took:.3f} s at {moment:.3f} s, machine {late:.3f}: {line}", flush=True)
        except Late as e:
            print(f"FAILED: {line}: {e}", flush=True)
            status = 1
    print(f"{len(lines)} commands, {how}: worst {worst:.3f} s")
    return status


if __name__ == "__main__":
    if sys.argv[1:] == ["control"]:
        control_run()
    sys.exit(main())

#!/usr/bin/env python3
"""A client of `helve call --jsonl --events`, with nothing but the standard library.

Usage: client.py HELVE FOLDER

It makes calls that run at the same time, answers a permission request and a
question while they wait, and cancels a call. See docs/jsonl.md.
"""

import itertools
import json
import os
import queue
import subprocess
import sys
import threading


# The end of every call that helve did not live to answer.
GONE = {"status": "error", "error": {"kind": "internal", "code": "gone", "message": "helve has ended"}}


class Helve:
    """A helve process. Calls may be made from several threads."""

    def __init__(self, command, folder, on_event):
        self.process = subprocess.Popen(
            [command, "call", "--jsonl", "--events", "--dir", folder],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )
        self.on_event = on_event
        self.ends = {}  # by call id: a queue that gets the one end of the call
        self.gone = False  # helve has ended: no call gets an answer any more
        self.lock = threading.Lock()
        # Ids are unique within a session; this process has a session of its own.
        self.ids = (f"{os.getpid()}-{n}" for n in itertools.count(1))
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _send(self, message):
        try:
            with self.lock:  # whole lines only
                self.process.stdin.write(json.dumps(message) + "\n")
                self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # helve has ended; every call learns it from _read

    def _read(self):
        try:
            for line in self.process.stdout:
                self._take(json.loads(line))
        finally:
            with self.lock:  # nobody is to wait for an answer that can not come
                self.gone = True
                left, self.ends = self.ends, {}
            for end in left.values():
                end.put(GONE)
            self.on_event(self, None)

    def _take(self, message):
        if "event" in message:
            self.on_event(self, message["event"])
            return
        with self.lock:
            end = self.ends.pop(message["id"], None)
        if end:
            end.put(message)
        else:
            print("helve:", message["error"]["message"], file=sys.stderr)

    def start(self, tool, **args):
        """Start a call; returns its id and a queue for its end."""
        call, end = next(self.ids), queue.Queue()
        with self.lock:
            if self.gone:
                end.put(GONE)
                return call, end
            self.ends[call] = end
        self._send({"id": call, "tool": tool, "args": args})
        return call, end

    def reply(self, request, verdict, **more):
        self._send({"reply": {"id": request, "reply": verdict, **more}})

    def answer(self, request, answers):
        self._send({"answer": {"id": request, "answers": answers}})

    def cancel(self, call):
        self._send({"cancel": call})

    def close(self):
        """Say that nothing more comes, and wait until everything has ended."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.reader.join()
        return self.process.wait()


def status(end):
    if end["status"] == "completed":
        return "completed"
    return "error {kind}/{code}".format(**end["error"])


def main():
    if len(sys.argv) != 3:
        print("usage: client.py HELVE FOLDER", file=sys.stderr)
        return 2
    command, folder = sys.argv[1:]
    left_alone = queue.Queue()

    def on_event(helve, event):
        if event is None:  # there are no more
            left_alone.put(None)
            return
        body = event["properties"]
        if event["type"] == "permission.asked":
            name = os.path.basename(body["patterns"][0])
            print(f"asked: {body['permission']} {name} -> once", flush=True)
            helve.reply(body["id"], "once")
        elif event["type"] == "question.asked":
            question = body["questions"][0]
            if question["options"]:
                helve.answer(body["id"], [[question["options"][-1]["label"]]])
            else:
                left_alone.put(body["tool"]["callID"])

    helve = Helve(command, folder, on_event)

    def ask(text, *labels):
        options = [{"label": label, "description": label} for label in labels]
        return helve.start("question", questions=[{"question": text, "header": "Colour", "options": options}])

    _, secret = helve.start("read", filePath=".env")
    _, missing = helve.start("read", filePath="missing.txt")
    _, colour = ask("Which colour?", "red", "blue")
    _, ignored = ask("Is anybody there?")
    print(".env:", status(secret.get()))
    print("missing.txt:", status(missing.get()))
    end = colour.get()
    output = end.get("output", "")
    print("question:", output[output.index('"'):output.rindex('"') + 1] if '"' in output else status(end))
    helve.cancel(left_alone.get())
    print("cancelled:", status(ignored.get()))
    early = helve.gone
    return helve.close() or int(early)


if __name__ == "__main__":
    sys.exit(main())

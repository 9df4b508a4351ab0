#!/usr/bin/env python3
"""An example tool. The name of this file is the name of the tool.

    __NAME__.py describe    prints what the tool is
    __NAME__.py call        does it: reads a call from standard input, prints the result

Change what stands here, then run: helve tools test __NAME__
"""

import json
import sys

DESCRIPTION = {
    "description": "Says a text several times. An example: tell the model here what your tool does and when to use it.",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "what to say"},
            "times": {"type": "integer", "minimum": 1, "maximum": 10, "description": "how often; once if not given"},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
}


def progress(title):
    """Tells who watches how the call is getting on."""
    print(json.dumps({"progress": {"title": title}}), file=sys.stderr, flush=True)


def call(args, context):
    """Answers a call. context has sessionID, messageID, callID, agent, directory and worktree."""
    if not args["text"]:
        return {"error": "There is nothing to say. Give a text."}
    times = args.get("times", 1)
    lines = []
    for i in range(1, times + 1):
        progress(f"{i} of {times}")
        lines.append(args["text"])
    return {"title": f"said {times} times", "output": "\n".join(lines), "metadata": {"times": times}}


def main():
    if sys.argv[1:] == ["describe"]:
        answer = DESCRIPTION
    elif sys.argv[1:] == ["call"]:
        question = json.load(sys.stdin)
        answer = call(question["args"], question["context"])
    else:
        sys.exit("usage: __NAME__.py describe|call")
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

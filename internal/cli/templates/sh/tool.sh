#!/bin/sh
# An example tool. The name of this file is the name of the tool.
#
#   __NAME__.sh describe    prints what the tool is
#   __NAME__.sh call        does it: what it prints is the result
#
# Arguments come as variables: HELVE_ARG_text is the argument "text". The whole
# call is JSON on standard input, for jq or where an argument is very long.
# Change what stands here, then run: helve tools test __NAME__

describe() {
	cat <<'END'
{
  "description": "Says a text several times. An example: tell the model here what your tool does and when to use it.",
  "parameters": {
    "type": "object",
    "properties": {
      "text": {"type": "string", "description": "what to say"},
      "times": {"type": "integer", "minimum": 1, "maximum": 10, "description": "how often; once if not given"}
    },
    "required": ["text"],
    "additionalProperties": false
  }
}
END
}

call() {
	if [ -z "$HELVE_ARG_text" ]; then
		echo "There is nothing to say. Give a text." >&2
		exit 1
	fi
	times=${HELVE_ARG_times:-1}
	i=1
	while [ "$i" -le "$times" ]; do
		echo "{\"progress\": {\"title\": \"$i of $times\"}}" >&2 # tells who watches how the call is getting on
		printf '%s\n' "$HELVE_ARG_text"
		i=$((i + 1))
	done
}

case "$1" in
describe) describe ;;
call) call ;;
*)
	echo "usage: __NAME__.sh describe|call" >&2
	exit 1
	;;
esac

#!/bin/sh
if [ "$1" = describe ]; then
  echo '{"description": "Says it loudly", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}}'
  exit
fi
tr a-z A-Z

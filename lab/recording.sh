#!/bin/sh
# Records the moving picture of the README, docs/recording.svg: types commands at
# a shell in a terminal of tmux, and termtosvg draws what the terminal shows.
# The model plays lab/recording.json; all else is real. It takes Linux, and the
# packages tmux and termtosvg, which it installs where it can.
set -eu
cd "$(dirname "$0")/.."
if ! command -v tmux termtosvg >/dev/null && [ "$(id -u)" = 0 ]; then
	apt-get install -y -qq --no-install-recommends tmux termtosvg >/dev/null
fi
if [ "${1:-}" != inside ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cp bin/helve lab/recording.json "$work"
	go build -o "$work/stand-in" ./examples/stand-in
	unshare -rm "$0" inside "$work" # with a /home of its own, so that the picture shows /home/ada
	install -m 644 "$work/recording.svg" docs/recording.svg
	exit
fi
work=$2 end=$(($(date +%s) + 180))
mount -t tmpfs none /home
mkdir -p /home/ada/shop/.git /home/ada/.config/helve
cd /home/ada/shop
printf '{\n  "permission": { "bash": { "rm *": "deny" } }\n}\n' >/home/ada/.config/helve/helve.json
echo "PS1='\$ '" >/home/ada/.bashrc
terminal() { tmux -S "$work/tmux" "$@"; }

# screen WORD waits until the last line begins with the word.
screen() {
	until terminal capture-pane -p | grep . | tail -n 1 | grep -q "^$1"; do
		[ "$(date +%s)" -lt "$end" ] || { terminal capture-pane -p >&2 && exit 1; }
		sleep 0.1
	done
}

# say TEXT SECONDS [WORD] types a line, and shows its end for a while.
say() {
	printf '%s\n' "$1" | fold -w 1 | while IFS= read -r key; do
		terminal send-keys -H "$(printf %02x "'$key")"
		sleep 0.03
	done
	sleep 0.4 && terminal send-keys Enter && sleep 0.3
	screen "${3:-[$]}"
	sleep "$2"
}

terminal -f /dev/null new-session -d -x 98 -y 20 env -i HOME=/home/ada PATH="$work:$PATH" LANG=C.UTF-8 \
	TERM=screen-256color termtosvg "$work/recording.svg" -g 98x20 -m 40 -D 2000 -t window_frame \
	-c "stand-in -script $work/recording.json bash --rcfile /home/ada/.bashrc"
terminal set-option -g status off
screen '[$]'
say "printf 'teh cat sat on teh mat\\n' > notes.txt" 0.3
say "helve call --session demo read filePath=notes.txt" 2.5
terminal send-keys C-l && say "helve call bash command='env rm -rf build'" 3
say "helve permission explain bash 'env rm -rf build'" 4
terminal send-keys C-l && say "helve call --session demo edit filePath=notes.txt oldString='teh cat' newString='the cat'" 1.5
say "helve undo" 2 "Put" && say y 1.5
terminal send-keys C-l && say "helve run 'Mend the typos in notes.txt.'" 4.5
terminal send-keys C-d
while terminal has-session 2>/dev/null; do sleep 0.1; done

package command

import (
	"path"
	"slices"
	"strings"
)

// A speller collects the ways in which a command may be written.
type speller struct{ all []string }

func (s *speller) add(text string) {
	if text != "" && text != Unknown && !slices.Contains(s.all, text) {
		s.all = append(s.all, text)
	}
}

// addCommand adds a command: as it is, by its base name, and without the options
// that stand before a subcommand (git -C dir push).
func (s *speller) addCommand(words []string) {
	if len(words) == 0 {
		return
	}
	s.add(strings.Join(words, " "))
	named := words
	if b := baseName(words[0]); b != words[0] {
		named = slices.Clone(words)
		named[0] = b
		s.add(strings.Join(named, " "))
	}
	if sub, ok := strings.CutPrefix(named[0], "git-"); ok { // git-push is git push
		named = append([]string{"git", sub}, named[1:]...)
		s.add(strings.Join(named, " "))
	}
	for _, n := range leadingOptions(named) {
		s.add(strings.Join(append(named[:1:1], named[1+n:]...), " "))
	}
	if n := runner(named); n > 0 && n < len(named) { // npx rm, uv run rm
		s.add(strings.Join(named[n:], " "))
		s.carried(named[0], named[n:])
	}
}

// carried adds what a runner of packages runs, without the options of the
// runner.
func (s *speller) carried(name string, rest []string) {
	for _, at := range carriedAt(name, rest) {
		s.add(strings.Join(rest[at:], " "))
	}
}

// carriedAt returns the words after a package runner at which its payload may begin. An unknown
// option of the runner is tried with a value and without.
func carriedAt(name string, rest []string) (all []int) {
	switch name {
	case "npx", "bunx", "pnpx", "uvx", "pipx", "npm", "pnpm", "yarn", "bun", "uv", "mise", "conda", "poetry", "pipenv", "asdf", "pyenv", "rbenv", "bundle", "bundler", "mamba", "micromamba", "nix", "stack", "cabal", "hatch", "pdm", "rye", "rustup", "direnv",
		"pixi", "nodenv", "opam", "dune", "lerna", "nx", "tox", "foreman", "honcho", "composer", "gem", "meson", "rr", "machinectl", "launchctl", "consul", "dotnet", "uftrace":
	default:
		return nil
	}
	from := 0
	if rest[0] == "run" {
		from = 1
		all = append(all, from)
	}
	if at := slices.IndexFunc(rest, func(w string) bool { return w == "-c" || w == "--command" }); name == "nix" && at >= 0 {
		all = append(all, at+1) // behind the packages
	}
	for _, valued := range []bool{false, true} {
		at := min(from+runnerOptions(rest[from:], valued), len(rest))
		all = append(all, at)
		switch name {
		case "rustup", "direnv", "machinectl", "launchctl", "consul": // a toolchain, a folder, a machine, a user, a lock
			all = append(all, min(at+1, len(rest)))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// runnerOptions says how many words the options of a runner take. valued says
// that an option which is not known takes a value.
func runnerOptions(words []string, valued bool) int {
	i := 0
	for i < len(words) && isOption(words[i]) {
		switch words[i] {
		case "--", "-c", "--call":
			return i + 1
		}
		i += runnerOption(words[i], valued)
	}
	return i
}

// runnerOption says how many words one of them takes.
func runnerOption(word string, valued bool) int {
	switch word {
	case "-y", "--yes", "--no", "-q", "--quiet", "-v", "--verbose", "--silent", "--no-install":
		return 1
	case "-p", "--package", "-n", "--name", "--with", "--from", "--python", "--spec", "-w", "--workspace":
		return 2
	}
	if valued && !strings.Contains(word, "=") {
		return 2
	}
	return 1
}

// spell returns the other ways to write a unit: its words without quotes and
// assignments, one space between them; then as speller.addCommand has it; then all
// of this without the words that may turn out to be none, and with the values
// of variables that are known. Unknown stands for what is not known.
func spell(u Unit, guesses []string) []string {
	if len(u.Words) == 0 {
		return nil
	}
	s := speller{all: []string{u.Text}}
	shapes, fewer := make([]string, len(u.Words)), make([]string, 0, len(u.Words))
	for i, w := range u.Words {
		shapes[i] = w.Shape
		if i == 0 || !w.vanishes() {
			fewer = append(fewer, w.Shape)
		}
	}
	if u.Words[0].vanishes() && len(shapes) > 1 {
		// What comes next may be the command: it is not certain that a space precedes it.
		shapes = append([]string{Unknown + shapes[1]}, shapes[2:]...)
		fewer = shapes[:1]
	}
	s.addCommand(shapes)
	if len(fewer) < len(shapes) {
		s.addCommand(fewer)
	}
	s.valued(u.Words)
	if guesses != nil {
		guessed := slices.Clone(guesses)
		for i, g := range guessed {
			if g == "" {
				guessed[i] = u.Words[i].Shape
			}
		}
		s.addCommand(guessed)
	}
	return slices.Clip(s.all[1:])
}

// valued adds a command whose option before the subcommand is given something
// that may be several words, the subcommand among them: git -C $x status, git
// --git-dir=$x status.
func (s *speller) valued(words []Word) {
	if !words[0].Literal {
		return
	}
	name := baseName(words[0].Value)
	for i := 1; i < len(words) && isOption(words[i].Shape); i++ {
		value := strings.Contains(words[i].Shape, "=")
		if takesValue(name, words[i].Shape) && i+1 < len(words) {
			value = true
			i++
		}
		if value && words[i].Split {
			rest := []string{name, Unknown}
			for _, w := range words[i+1:] {
				rest = append(rest, w.Shape)
			}
			s.add(strings.Join(rest, " "))
			return // it may be all that could stand in others
		}
	}
}

func wordValues(words []Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Value
	}
	return out
}

// baseName returns the name of a program without its folder.
func baseName(name string) string {
	if b := path.Base(name); b != "." && b != "/" && strings.Contains(name, "/") {
		return b
	}
	return name
}

// leadingOptions returns how many words the options between a command and its subcommand may take.
// There are two answers if it is not known whether an option takes the next word as its value.
func leadingOptions(words []string) []int {
	name := words[0]
	if n, ok := arity(name); !ok || n < 2 {
		return nil
	}
	short, long := 1, 1 // the next word, reading unknown options without and with a value
	for short < len(words) && isOption(words[short]) {
		if takesValue(name, words[short]) {
			short++
		}
		short++
	}
	for long < len(words) && isOption(words[long]) {
		if !strings.Contains(words[long], "=") && !takesNone(name, words[long]) {
			long++
		}
		long++
	}
	short, long = min(short, len(words)), min(long, len(words))
	switch {
	case short == 1:
		return nil
	case short == long:
		return []int{short - 1}
	}
	return []int{short - 1, long - 1}
}

// isOption reports whether a word is an option; cargo's +toolchain is one too.
func isOption(word string) bool {
	return len(word) > 1 && (word[0] == '-' || word[0] == '+')
}

// takesValue knows the options before a subcommand whose value is the next word.
func takesValue(name, opt string) bool {
	var known string
	switch name {
	case "git":
		known = "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source --list-cmds"
	case "docker", "podman":
		known = "-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --root --runroot --url --connection"
	case "kubectl", "helm":
		known = "-n --namespace --context --kube-context --cluster --user --kubeconfig -s --server --token --as --request-timeout"
	case "npm", "pnpm", "yarn", "bun":
		known = "--prefix -C --dir --cwd --filter -F -w --workspace --userconfig --registry"
	case "cargo":
		known = "--config -Z -C --color --manifest-path"
	case "go", "make":
		known = "-C -f --file --directory -I -j -o -W"
	case "gh":
		known = "-R --repo"
	case "aws", "gcloud", "az", "doctl":
		known = "--profile --region --output --endpoint-url --query --project --account --configuration --format --subscription --context -t --access-token"
	case "systemctl":
		known = "-H --host -M --machine -t --type -p --property --state --root"
	case "gradle", "mvn":
		known = "-p --project-dir -f --file -b -c -s --settings -P"
	}
	return slices.Contains(strings.Fields(known), opt)
}

// takesNone knows the options before a subcommand that stand alone.
func takesNone(name, opt string) bool {
	if opt[0] == '+' {
		return true
	}
	switch opt {
	case "-p", "-P", "--paginate", "--no-pager", "--bare", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs",
		"--glob-pathspecs", "--noglob-pathspecs", "--icase-pathspecs", "--no-advice":
		return name == "git"
	case "--verbose", "--quiet", "--debug", "--version", "--help", "-v", "-q", "--silent", "--offline", "--user", "--no-color":
		return !takesValue(name, opt)
	}
	return false
}

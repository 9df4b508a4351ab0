package shell

import (
	"path"
	"slices"
	"strings"
)

// Spellings returns the texts a restriction on a command is to be tried on: as
// it is written; then its words without quotes and assignments, one space
// between them; then the same with the command's base name, and without the
// options that stand before a subcommand (git -C dir push). None occurs twice.
//
// What allows a command must be tried on the first alone, which is its text as
// a person reads it.
func Spellings(u Unit) []string {
	all := []string{u.Text}
	add := func(words []string) {
		if s := strings.Join(words, " "); s != "" && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	words := values(u.Words)
	if len(words) == 0 {
		return all
	}
	add(words)
	named := slices.Clone(words)
	named[0] = baseName(words[0])
	add(named)
	for _, n := range leadingOptions(named) {
		add(append(named[:1:1], named[1+n:]...))
	}
	return all
}

func values(words []Word) []string {
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

// leadingOptions says how many words the options between a command and its
// subcommand may take. There are two answers where it is not known whether an
// option takes the next word as its value.
func leadingOptions(words []string) []int {
	name := words[0]
	if n, ok := arity(name); !ok || n < 2 {
		return nil
	}
	short, long := 1, 1 // the next word, reading unknown options without and with a value
	for short < len(words) && option(words[short]) {
		if takesValue(name, words[short]) {
			short++
		}
		short++
	}
	for long < len(words) && option(words[long]) {
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

// option reports whether a word is an option; cargo's +toolchain is one too.
func option(word string) bool {
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

package command

import "strings"

// A GitPlace is a folder in which a command makes git look for its settings.
type GitPlace struct {
	Path Word // seen from Dir
	Dir  Dir

	Named  bool   // Path is the repository itself
	Serves bool   // Path may be another repository, which git talks to
	Takes  bool   // Path may hold others, which git takes in
	Flag   string // the part of the text that names it; may be empty
}

// GitPlaces returns where a unit makes git read settings; none if it does not run git, or git reads
// no settings.
func GitPlaces(u Unit) []GitPlace {
	if u.Kind != Command || len(u.Words) == 0 || !u.Words[0].Literal {
		return nil
	}
	words := u.Words
	name := programName(words[0].Value)
	here := []GitPlace{{Path: knownWord("."), Dir: u.Dir}}
	if sub, ok := strings.CutPrefix(name, "git-"); ok {
		words = append([]Word{knownWord("git"), knownWord(sub)}, words[1:]...)
		name = "git"
	}
	switch name {
	case "git":
	case "hub", "gh", "glab", "tig", "gitk", "gitui", "lazygit":
		return here
	default:
		return nil
	}
	s, rest := gitCommand(words)
	if len(rest) == 0 {
		return nil
	}
	place := here[0]
	for _, o := range s.options {
		switch o.name {
		case "C":
			if place.Flag != "" {
				place.Dir, place.Path = place.Dir.joinWord(place.Path), knownWord(".")
			}
			place.Path, place.Flag = o.value, strings.TrimSpace(place.Flag+" -C "+o.value.Raw)
		}
	}
	var out []GitPlace
	for _, o := range s.options {
		named := place
		switch {
		case o.name == "bare":
			named.Flag = "--bare"
		case o.name == "git-dir":
			if place.Flag != "" {
				named.Dir = place.Dir.joinWord(place.Path)
			}
			named.Path, named.Flag = o.value, "--git-dir"
		default:
			continue
		}
		named.Named = true
		out = append(out, named)
	}
	sub := rest[0].Value
	switch sub {
	case "init":
		if o, ok := (grammar{short: "b:q", long: "separate-git-dir: template: object-format: ref-format: initial-branch: shared:: bare quiet", anywhere: true}).scan(rest).get("separate-git-dir"); ok {
			place.Path, place.Named, place.Flag = o.value, true, "--separate-git-dir"
			out = append(out, place)
		}
	case "clone", "version":
	default:
		if len(out) == 0 {
			out = append(out, place)
		}
	}
	switch sub {
	case "push", "fetch", "pull", "clone", "ls-remote", "send-pack", "fetch-pack", "receive-pack", "upload-pack", "upload-archive", "submodule", "remote", "archive",
		"add", "stage": // a repository that is added is a submodule, into which git goes from then on
		from := u.Dir
		if place.Flag != "" {
			from = place.Dir.joinWord(place.Path)
		}
		for _, w := range rest[1:] {
			for _, head := range []string{"--repo=", "--remote=", "--reference=", "--reference-if-able=", "file://"} {
				if rest, ok := strings.CutPrefix(w.Value, head); ok {
					w.Value, w.Raw, w.Shape = rest, strings.Replace(w.Raw, head, "", 1), strings.TrimPrefix(w.Shape, head)
				}
			}
			takes := sub == "add" || sub == "stage"
			if takes && (w.Value == "-A" || w.Value == "--all") {
				w = knownWord(".")
			}
			if w.Value == "" || w.Value[0] == '-' || strings.Contains(w.Value, "://") {
				continue
			}
			flag := w.Raw
			if w.Literal {
				w = knownWord(w.Value)
			}
			out = append(out, GitPlace{Path: w, Dir: from, Serves: true, Takes: takes, Flag: flag})
		}
	}
	return out
}

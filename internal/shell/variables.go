package shell

import "strings"

// changesRun knows the variables that change what a command runs, or what it
// reads before it does anything.
func changesRun(name string) bool {
	switch name {
	case "PATH", "IFS", "BASH_ENV", "ENV", "PS4", "PS0", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS", "CDPATH", "SHELL",
		"EXECIGNORE", "BASH_CMDS", "BASH_ALIASES", "PS1", "PS2", "POSIXLY_CORRECT", "BASH_LOADABLES_PATH", "BASH_XTRACEFD", "FPATH", "ZDOTDIR", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS",
		"GCONV_PATH", "PAGER", "MANPAGER", "SYSTEMD_PAGER", "BAT_PAGER", "PSQL_PAGER", "DELTA_PAGER", "AWS_PAGER", "GH_PAGER",
		"MANOPT", "LESSOPEN", "LESSCLOSE", "LESSEDIT", "EDITOR", "VISUAL", "SUDO_EDITOR", "SYSTEMD_EDITOR", "FCEDIT", "GH_EDITOR",
		"KUBE_EDITOR", "HGEDITOR", "SVN_EDITOR", "BROWSER", "GH_BROWSER", "SUDO_ASKPASS", "SSH_ASKPASS", "SVN_SSH", "CVS_RSH",
		"RSYNC_RSH", "HGMERGE", "VIMINIT", "EXINIT", "MYVIMRC", "NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE",
		"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GOFLAGS", "RUSTC", "RUSTC_WRAPPER",
		"RUSTC_WORKSPACE_WRAPPER", "RUSTDOC", "CARGO_BUILD_RUSTC", "CARGO_BUILD_RUSTC_WRAPPER", "MAKEFLAGS", "MFLAGS",
		"GNUMAKEFLAGS", "MAKEFILES", "TAR_OPTIONS", "TAPE", "RIPGREP_CONFIG_PATH", "GREP_OPTIONS", "LUA_INIT", "LUA_PATH",
		"LUA_CPATH", "R_PROFILE", "R_PROFILE_USER", "R_ENVIRON", "R_ENVIRON_USER", "PHPRC", "PHP_INI_SCAN_DIR", "AWKPATH",
		"AWKLIBPATH", "GAWKEXT", "OPENSSL_CONF", "WGETRC", "CURL_HOME", "INPUTRC", "PERLLIB":
		return true
	}
	for _, head := range []string{
		"LD_", "DYLD_", "GIT_", "PYTHON", "PERL5", "RUBY", "BASH_FUNC_", "npm_config_", "NPM_CONFIG_", "LUA_INIT_",
	} {
		if strings.HasPrefix(name, head) {
			return true
		}
	}
	return false
}

// sets is the doubt about setting a variable, if there is one.
func sets(name string) []Doubt {
	if !changesRun(name) {
		return nil
	}
	return []Doubt{{Why: "sets " + name + ", which changes what runs", Flag: name + "="}}
}

// varDoubts are the doubts about the names of variables that a command sets.
func varDoubts(command Word, names ...Word) []Doubt {
	var out []Doubt
	for _, n := range names {
		name := bareName(n.Shape)
		if strings.Contains(name, Unknown) {
			out = append(out, Doubt{Why: command.Value + " sets a variable whose name is computed"})
			continue
		}
		out = append(out, sets(name)...)
		if hidesCode(n.Shape) || openIndex(n.Shape) {
			out = append(out, Doubt{Why: "an index that may hold code"})
		}
	}
	return out
}

// nameDoubts are the doubts about a word that bash takes for a variable's name.
func nameDoubts(w Word) []Doubt {
	if !w.Literal {
		return []Doubt{{Why: "a variable whose name is computed"}}
	}
	if hidesCode(w.Value) {
		return []Doubt{{Why: "an index that may hold code"}}
	}
	return nil
}

// bareName returns the variable of a name that may have an index.
func bareName(s string) string {
	s, _, _ = strings.Cut(s, "[")
	return strings.TrimSuffix(s, "+")
}

// assignment splits a word like NAME=value.
func assignment(w Word) (name string, value Word, ok bool) {
	name, value, ok = cutWord(w, "=")
	if !ok || !identifier(bareName(name)) {
		return "", Word{}, false
	}
	return bareName(name), value, true
}

func identifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// assignDoubts are the doubts about the variables set in front of a command, or
// on their own.
func assignDoubts(u Unit) []Doubt {
	var out []Doubt
	for _, a := range u.Assigns {
		if a.Name == "IFS" && len(u.Words) > 0 {
			switch u.Words[0].Value {
			case "read", "mapfile", "readarray": // how that line is split, and no more
				continue
			}
		}
		out = append(out, sets(a.Name)...)
	}
	return out
}

// declareDoubts are the doubts about a declaration.
func declareDoubts(words []Word) []Doubt {
	var out []Doubt
	reference := words[0].Value == "nameref"
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Shape, "-") || strings.HasPrefix(w.Shape, "+") {
			reference = reference || w.Shape[0] == '-' && strings.Contains(w.Shape, "n") && words[0].Value != "export"
			continue
		}
		name, value, set := cutWord(w, "=")
		switch {
		case strings.Contains(name, Unknown):
			out = append(out, Doubt{Why: words[0].Value + " sets a variable whose name is computed"})
		case set:
			out = append(out, sets(bareName(name))...)
		}
		if hidesCode(name) || openIndex(name) || hidesCode(value.Shape) {
			out = append(out, Doubt{Why: "an index that may hold code"})
		}
		if reference && set {
			out = append(out, referTo(value)...)
		}
	}
	return out
}

// referTo are the doubts about a name reference.
func referTo(value Word) []Doubt {
	if !value.Literal || !identifier(value.Value) {
		return []Doubt{{Why: "a name reference to something computed"}}
	}
	return sets(value.Value)
}

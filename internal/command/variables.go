package command

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
		"AWKLIBPATH", "GAWKEXT", "OPENSSL_CONF", "WGETRC", "CURL_HOME", "INPUTRC", "PERLLIB",
		"CARGO_HOME", "RUSTFLAGS", "RUSTDOCFLAGS", "CARGO_ENCODED_RUSTFLAGS", "GOROOT", "GOENV", "GOTOOLCHAIN", "GCC_EXEC_PREFIX", "COMPILER_PATH", "DOCKER_CONFIG", "AWS_CONFIG_FILE",
		"KUBECONFIG", "BUNDLE_GEMFILE", "GEM_HOME", "GEM_PATH", "PIP_CONFIG_FILE", "UV_CONFIG_FILE", "YARN_RC_FILENAME", "YARN_SCRIPT_SHELL", "PNPM_SCRIPT_SHELL", "JAVA_HOME", "MAVEN_OPTS",
		"MAVEN_ARGS", "GRADLE_OPTS", "JAVA_OPTS", "ANT_OPTS", "SBT_OPTS", "DOTNET_STARTUP_HOOKS", "ELIXIR_ERL_OPTIONS", "GUILE_LOAD_PATH", "TCLLIBPATH", "JULIA_LOAD_PATH", "EMACSLOADPATH",
		"VIMRUNTIME", "VIM", "XDG_DATA_HOME", "XDG_DATA_DIRS", "LESS", "LESSKEY", "LESSKEYIN", "LESSKEY_CONTENT", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS", "BAT_CONFIG_PATH", "BAT_OPTS",
		"ACKRC", "ACK_OPTIONS", "PSQLRC", "MAILCAPS", "MAILRC", "TERMINFO", "TERMCAP", "LOCPATH", "GLIBC_TUNABLES", "OPENSSL_MODULES", "OPENSSL_ENGINES", "KRB5_CONFIG", "GNUPGHOME",
		"SSH_SK_PROVIDER", "HELM_PLUGINS", "KUBECTL_EXTERNAL_DIFF", "CMAKE_TOOLCHAIN_FILE", "PKG_CONFIG", "CONFIG_SHELL", "CONFIG_SITE", "MAKESHELL", "QT_PLUGIN_PATH", "GTK_MODULES", "GTK_PATH",
		"GIO_EXTRA_MODULES", "GDK_PIXBUF_MODULE_FILE", "ALSA_CONFIG_PATH", "CHROME_PATH", "CHROME_BIN", "PUPPETEER_EXECUTABLE_PATH", "ESBUILD_BINARY_PATH", "COMPOSER_HOME", "R_LIBS", "R_HOME",
		"CAML_LD_LIBRARY_PATH", "GHC_PACKAGE_PATH", "CCC_OVERRIDE_OPTIONS", "TEXINPUTS", "TEXMFCNF", "GS_OPTIONS", "GS_LIB", "MAGICK_CONFIGURE_PATH", "MAGICK_CODER_MODULE_PATH", "HGRCPATH",
		"BZR_PLUGIN_PATH", "P4DIFF", "JJ_CONFIG", "TIGRC_USER", "LG_CONFIG_FILE", "PASSWORD_STORE_EXTENSIONS_DIR", "APT_CONFIG", "TERRAGRUNT_TFPATH":
		return true
	}
	for _, tail := range []string{"PAGER", "EDITOR", "BROWSER", "_ASKPASS", "_RUNNER", "_LINKER", "_WRAPPER", "_LAUNCHER"} {
		if strings.HasSuffix(name, tail) {
			return true
		}
	}
	for _, head := range []string{
		"LD_", "DYLD_", "GIT_", "PYTHON", "PERL5", "RUBY", "BASH_FUNC_", "npm_config_", "NPM_CONFIG_", "LUA_INIT_",
		"CARGO_BUILD_", "CARGO_TARGET_", "ERL_", "CORECLR_", "GROFF_", "ANSIBLE_", "TF_CLI_", "RLWRAP_",
	} {
		if strings.HasPrefix(name, head) {
			return true
		}
	}
	return false
}

// sets is the uncertainty about setting a variable, if there is one.
func sets(name string) []Uncertainty {
	if !changesRun(name) {
		return nil
	}
	return []Uncertainty{{Why: "sets " + name + ", which changes what runs", Flag: name + "="}}
}

// varUncertainties are the uncertainties about the names of variables that a command sets.
func varUncertainties(command Word, names ...Word) []Uncertainty {
	var out []Uncertainty
	for _, n := range names {
		name := bareName(n.Shape)
		if strings.Contains(name, Unknown) {
			out = append(out, Uncertainty{Why: command.Value + " sets a variable whose name is computed"})
			continue
		}
		out = append(out, sets(name)...)
		if hidesCode(n.Shape) || openIndex(n.Shape) {
			out = append(out, Uncertainty{Why: "an index that may hold code"})
		}
	}
	return out
}

// nameUncertainties are the uncertainties about a word that bash takes for a variable's name.
func nameUncertainties(w Word) []Uncertainty {
	if !w.Literal {
		return []Uncertainty{{Why: "a variable whose name is computed"}}
	}
	if hidesCode(w.Value) {
		return []Uncertainty{{Why: "an index that may hold code"}}
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

// assignUncertainties are the uncertainties about the variables set in front of a command, or
// on their own.
func assignUncertainties(u Unit) []Uncertainty {
	var out []Uncertainty
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

// unsetUncertainties are the uncertainties about unset. Without a PATH, bash looks for
// commands where it stands.
func unsetUncertainties(words []Word) []Uncertainty {
	var out []Uncertainty
	for _, w := range words[1:] {
		name := bareName(w.Shape)
		switch {
		case strings.HasPrefix(name, "-f"):
			return nil // of functions
		case strings.Contains(name, Unknown):
			out = append(out, Uncertainty{Why: "unset of a variable whose name is computed"})
		case findsCommands(name):
			out = append(out, Uncertainty{Why: "unset of " + name + ", which changes what runs", Flag: name})
		}
	}
	return out
}

// findsCommands knows the variables that bash finds commands by, and those that
// keep git from settings that a tool may have written.
func findsCommands(name string) bool {
	return name == "PATH" || name == "BASH_CMDS" || strings.HasPrefix(name, "GIT_CONFIG_")
}

// keywordUncertainties are the uncertainties about an option of the shell, with which words
// of the form a=b set variables wherever they stand.
func keywordUncertainties(words []Word) []Uncertainty {
	for i, w := range words[1:] {
		s := w.Shape
		if s == "" || s == "--" || s[0] != '-' && s != "keyword" {
			if i == 0 || !strings.HasSuffix(strings.ToLower(words[i].Shape), "o") {
				break
			}
			continue
		}
		if s == "keyword" || !strings.HasPrefix(s, "--") && strings.Contains(s, "k") {
			return []Uncertainty{{Why: "words that set variables wherever they stand", Flag: s}}
		}
	}
	return nil
}

// declareUncertainties are the uncertainties about a declaration.
func declareUncertainties(words []Word) []Uncertainty {
	out := arrayUncertainties(words)
	reference := words[0].Value == "nameref"
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Shape, "-") || strings.HasPrefix(w.Shape, "+") {
			reference = reference || w.Shape[0] == '-' && strings.Contains(w.Shape, "n") && words[0].Value != "export"
			continue
		}
		name, value, set := cutWord(w, "=")
		switch {
		case strings.Contains(name, Unknown):
			out = append(out, Uncertainty{Why: words[0].Value + " sets a variable whose name is computed"})
		case set:
			out = append(out, sets(bareName(name))...)
		default:
			out = append(out, hides(words, name)...)
		}
		if hidesCode(name) || openIndex(name) || hidesCode(value.Shape) {
			out = append(out, Uncertainty{Why: "an index that may hold code"})
		}
		if reference && set {
			out = append(out, referTo(value)...)
		}
	}
	return out
}

// referTo are the uncertainties about a name reference.
func referTo(value Word) []Uncertainty {
	if !value.Literal || !identifier(value.Value) {
		return []Uncertainty{{Why: "a name reference to something computed"}}
	}
	return sets(value.Value)
}

// hides are the uncertainties about a declaration without a value, which in a function
// hides the variable that bash finds commands by.
func hides(words []Word, name string) []Uncertainty {
	if name != "PATH" {
		return nil
	}
	switch words[0].Value {
	case "local":
	case "declare", "typeset":
		for _, w := range words[1:] {
			if strings.HasPrefix(w.Shape, "-") && strings.ContainsAny(w.Shape, "pgfF") {
				return nil
			}
		}
	default:
		return nil
	}
	return []Uncertainty{{Why: words[0].Value + " of PATH, which changes what runs", Flag: name}}
}

// arrayUncertainties are the uncertainties about a declaration that makes an array of a text
// which is computed. Such a text may be a list in brackets, which is read as
// one: what it holds is code.
func arrayUncertainties(words []Word) []Uncertainty {
	makes := false
	for _, w := range words[1:] {
		if strings.HasPrefix(w.Shape, "-") {
			makes = makes || strings.ContainsAny(w.Shape, "aA"+Unknown)
			continue
		}
		if value, _ := listText(w); makes && value == Unknown {
			return []Uncertainty{{Why: "a list that is computed"}}
		}
	}
	return nil
}

// listText gives the text of a list that stands in quotes in a declaration, or
// Unknown if there may be one.
func listText(w Word) (value, name string) {
	name, rest, set := cutWord(w, "=")
	_, list, _ := strings.Cut(w.Raw, "=")
	if !set || strings.HasPrefix(list, "(") && identifier(strings.TrimSuffix(beforeEqual(w.Raw), "+")) {
		return "", "" // one that the parser has read
	}
	name = bareName(name)
	switch s := rest.Shape; {
	case strings.Contains(s, Unknown):
		if (s[0] == '(' || s[:1] == Unknown) && (s[len(s)-1] == ')' || s[len(s)-1:] == Unknown) {
			return Unknown, name
		}
	case strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")"):
		return s, name
	}
	return "", name
}

// lists reads the lists that stand in quotes in a declaration.
func (c *collector) lists(unit int) {
	u := c.r.units[unit]
	if len(u.Words) < 2 || u.Kind == Piece {
		return
	}
	switch u.Words[0].Value {
	case "declare", "typeset", "local", "export", "readonly":
	default:
		return
	}
	for _, w := range u.Words[1:] {
		switch value, name := listText(w); {
		case value == Unknown && !strings.Contains(beforeEqual(w.Raw), "["): // an element is one only with -a
			c.r.flows.lists = append(c.r.flows.lists, lent{unit, name})
		case strings.ContainsAny(value, "$`<>["):
			c.nested(unit, "list="+value, here)
		}
	}
}

func beforeEqual(s string) string {
	head, _, _ := strings.Cut(s, "=")
	return head
}

package process

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// An Environment configures which variables of the runtime a command gets.
type Environment struct {
	// Pass are names of further variables that commands get, with * for any
	// text. A name that is given here in full is passed on even if it sounds
	// like a secret.
	Pass []string
	// Set are variables that are given to every command as they are here.
	Set map[string]string
}

// A Secret is the value of a variable that commands do not get.
type Secret struct{ Name, Value string }

// Build chooses from the variables of the runtime. The secrets are the values
// of those that sound like one and were not passed on.
func (e Environment) Build(base []string) (env []string, secrets []Secret) {
	vars := map[string]string{}
	for _, kv := range base {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "" || changesShell(name):
		case slices.Contains(e.Pass, name), (ordinary(name) || e.passes(name)) && !secret(name):
			vars[name] = value
		case secret(name) && len(value) >= leastSecret:
			secrets = append(secrets, Secret{name, value})
		}
	}
	for name, value := range unattended() {
		vars[name] = value
	}
	for name, value := range e.Set {
		vars[name] = value
	}
	guardGit(vars)
	env = make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	sort.Strings(env)
	return env, secrets
}

// leastSecret is the length below which a value is too common to be searched for in outputs.
const leastSecret = 8

func (e Environment) passes(name string) bool {
	return slices.ContainsFunc(e.Pass, func(p string) bool {
		ok, err := path.Match(p, name)
		return err == nil && ok
	})
}

// secret reports whether a variable's name suggests a secret.
func secret(name string) bool {
	if strings.HasPrefix(name, "GIT_CONFIG_KEY_") { // the name of a setting
		return false
	}
	upper := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}, func(word string) bool {
		return strings.Contains(upper, word)
	})
}

// changesShell reports whether a variable makes a shell do more than its text says.
func changesShell(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "GLOBIGNORE", "IFS", "BASH_XTRACEFD",
		"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}

// ordinary knows the variables that programs need and that hold no secret:
// who and where one is, the language, and where tools are installed.
func ordinary(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP", "HOSTNAME", "UID",
		"DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "COLUMNS", "LINES", "CI", "CC", "CXX", "CPP", "LD", "AR", "CFLAGS", "CXXFLAGS",
		"CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "MANPATH", "INFOPATH",
		"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
		"GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOPROXY", "GONOPROXY", "GOPRIVATE", "GONOSUMDB", "GOSUMDB", "GOFLAGS",
		"GOTOOLCHAIN", "GOOS", "GOARCH", "GOENV", "GOTMPDIR", "GOMAXPROCS", "CGO_ENABLED",
		"JAVA_HOME", "JDK_HOME", "MAVEN_HOME", "GRADLE_HOME", "GRADLE_USER_HOME", "ANDROID_HOME", "ANDROID_SDK_ROOT", "KOTLIN_HOME",
		"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED", "PYENV_ROOT", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE",
		"NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "NVM_DIR", "NVM_BIN", "VOLTA_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR",
		"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_TARGET_DIR", "RUSTFLAGS", "RBENV_ROOT", "GEM_HOME", "GEM_PATH", "RUBYLIB",
		"DOTNET_ROOT", "DOTNET_CLI_HOME", "DOCKER_HOST", "DOCKER_CONFIG", "KUBECONFIG", "MISE_SHELL", "ASDF_DIR", "NIX_PATH", "NIX_PROFILES",
		"SystemRoot", "SYSTEMROOT", "SystemDrive", "windir", "WINDIR", "COMSPEC", "ComSpec", "PATHEXT", "APPDATA", "LOCALAPPDATA",
		"USERPROFILE", "USERNAME", "USERDOMAIN", "HOMEDRIVE", "HOMEPATH", "ProgramFiles", "ProgramData", "PROGRAMFILES", "PROGRAMDATA",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "Path", "MSYSTEM":
		return true
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// guardGit adds settings of git's, behind those that are given in the same way:
// a folder of plain files is not taken for a repository, and no program is run
// to watch a tree. Both would come from a config that a tool may have written.
// What the person has set here counts instead.
func guardGit(vars map[string]string) {
	count, err := strconv.Atoi(cmp.Or(vars["GIT_CONFIG_COUNT"], "0"))
	if err != nil || count < 0 || count > 1<<16 {
		return // git itself refuses it
	}
	given := map[string]bool{}
	for i := range count {
		given[strings.ToLower(vars["GIT_CONFIG_KEY_"+strconv.Itoa(i)])] = true
	}
	for _, s := range []struct{ key, value string }{{"safe.bareRepository", "explicit"}, {"core.fsmonitor", "false"}} {
		if !given[strings.ToLower(s.key)] {
			n := strconv.Itoa(count)
			vars["GIT_CONFIG_KEY_"+n], vars["GIT_CONFIG_VALUE_"+n] = s.key, s.value
			count++
		}
	}
	vars["GIT_CONFIG_COUNT"] = strconv.Itoa(count)
}

// unattended returns the variables that keep programs from waiting for a person: no editor, no
// pager, no prompt.
func unattended() map[string]string {
	return map[string]string{
		"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat", "SYSTEMD_PAGER": "cat", "GH_PAGER": "cat", "AWS_PAGER": "",
		"EDITOR": "false", "VISUAL": "false", "GIT_EDITOR": "false", "GIT_SEQUENCE_EDITOR": "false", "KUBE_EDITOR": "false",
		"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "false", "SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "never", "SUDO_ASKPASS": "false",
		"GCM_INTERACTIVE": "never", "GH_PROMPT_DISABLED": "1", "DEBIAN_FRONTEND": "noninteractive", "PIP_NO_INPUT": "1", "HELVE": "1",
	}
}

// withVars returns the environment with further variables set. Of two values of
// one name the last counts.
func (e Environment) withVars(more ...map[string]string) Environment {
	set := map[string]string{}
	for _, one := range append([]map[string]string{e.Set}, more...) {
		maps.Copy(set, one)
	}
	e.Set = set
	return e
}

package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A Shell is the program that runs command lines.
type Shell struct {
	Path string // absolute
	Why  string // how it came to be chosen, for people
}

// Name is the name of the program without its folder and ending.
func (s Shell) Name() string { return shellName(s.Path) }

func shellName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".exe")
}

// args returns the shell's arguments. The shell reads none of the user's startup files, so that the
// text that runs is the text that was checked.
func (s Shell) args(line string) []string {
	if s.Name() == "bash" {
		return []string{s.Path, "--norc", "--noprofile", "-c", line}
	}
	return []string{s.Path, "-c", line}
}

// FindShell chooses the shell: the configured one if it reads command lines as
// bash does, else bash, else the system's sh.
func FindShell(configured string, getenv func(string) string) (Shell, error) {
	declined := ""
	if configured != "" {
		s, err := configuredShell(configured)
		if err == nil {
			return s, nil
		}
		declined = fmt.Sprintf("; the configured %q was not taken: %v", configured, err)
	}
	for _, c := range candidates(getenv) {
		if path := c.path(); path != "" {
			return Shell{Path: path, Why: c.why + declined}, nil
		}
	}
	return Shell{}, errors.New("there is no bash on this machine: install it, or name one with the config key shell" + declined)
}

// configuredShell accepts a shell that parses command lines as the permission check does. Another
// shell would run something else than was shown.
func configuredShell(name string) (Shell, error) {
	switch shellName(name) {
	case "bash", "sh", "dash":
	default:
		return Shell{}, errors.New("command lines are read as bash, sh or dash read them, and another shell might run something else")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return Shell{}, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return Shell{}, err
	}
	return Shell{Path: path, Why: "named by the config key shell"}, nil
}

type candidate struct {
	path func() string
	why  string
}

func candidates(getenv func(string) string) []candidate {
	fixed := func(path string) func() string {
		return func() string {
			if info, err := os.Stat(path); path == "" || err != nil || info.IsDir() {
				return ""
			}
			return path
		}
	}
	looked := func() string {
		path, err := exec.LookPath("bash")
		if err != nil || !filepath.IsAbs(path) {
			return ""
		}
		return path
	}
	if runtime.GOOS == "windows" {
		return []candidate{
			{fixed(getenv("HELVE_GIT_BASH_PATH")), "named by HELVE_GIT_BASH_PATH"},
			{fixed(getenv("OPENCODE_GIT_BASH_PATH")), "named by OPENCODE_GIT_BASH_PATH"},
			{gitBash, "the bash that came with Git"},
		}
	}
	return []candidate{
		{fixed("/bin/bash"), "the system's bash"},
		{fixed("/usr/bin/bash"), "the system's bash"},
		{looked, "bash on the PATH"},
		{fixed("/bin/sh"), "there is no bash, so the system's sh"},
	}
}

// gitBash is the bash beside the git program on Windows.
func gitBash() string {
	git, err := exec.LookPath("git")
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(git), "..", "bin", "bash.exe")
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return ""
	}
	return path
}

package command

import "strings"

// programName returns the name of a program as in the tables: without its folder, target system and
// version, and with aliases resolved. x86_64-linux-gnu-gcc-12 is gcc.
func programName(name string) string {
	name = baseName(name)
	for _, system := range []string{"-linux-gnu-", "-linux-gnueabihf-", "-linux-musl-", "-mingw32-", "-elf-"} {
		if _, tool, ok := strings.Cut(name, system); ok {
			name = tool
			break
		}
	}
	if head, _, ok := strings.Cut(name, "."); ok && (head == "vim" || head == "vi" || head == "nvim") { // vim.basic
		return "vim"
	}
	bare := strings.TrimSuffix(strings.TrimRight(name, "0123456789."), "-")
	switch bare {
	case "gcc", "g++", "clang", "clang++", "cc", "c++", "bash", "zsh", "ksh", "mksh", "gdb", "lldb", "ar", "nm", "ranlib", "gcc-ar", "gcc-nm", "gcc-ranlib", "vim", "gvim", "emacs", "gawk", "mawk", "make", "tmux":
		return bare
	case "cpp", "gfortran", "gnat", "clang-cpp":
		return "gcc"
	}
	switch name {
	case "c99", "c89", "tcc", "icc":
		return "gcc"
	case "editor", "sensible-editor", "vim-nox":
		return "vim"
	case "bash-static", "zsh-static", "mksh-static":
		return strings.TrimSuffix(name, "-static")
	}
	return name
}

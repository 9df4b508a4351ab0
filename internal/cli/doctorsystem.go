package cli

import "fmt"

// A ground is a system facility that helve uses and that not every system has. doctor and
// docs/platforms.md describe it in these words.
type ground struct {
	about   string
	linux   string // what holds there
	macOS   string // what does not hold there; "" where it is as on Linux
	windows string // likewise
}

// on says what a system lacks; "" for nothing.
func (g ground) on(goos string) string {
	switch goos {
	case "darwin":
		return g.macOS
	case "windows":
		return g.windows
	}
	return ""
}

// grounds lists all known differences between the systems. A test requires that each
// system-specific file is mentioned here.
func grounds() []ground {
	const (
		noWall    = "There is no wall: only the rules limit what commands do. Where wall.level is set, no command runs unless wall.required is false. Use a Linux container or virtual machine."
		noSecrets = "What may not be read is kept from helve's tools and from commands that name it, not from a program that such a command starts."
		walked    = "No tree or index is kept: a program that goes on running walks the disk for every search."
		anyUser   = "Who opens a one-time link is not known: another user of this machine who sees it first can use it."
		unbounded = "How much memory a language server holds is not known: memory_bytes limits nothing."
		unread    = "Which calls a server that has died had still to read is not known: all of them count as perhaps made."
		untried   = "It is compiled and vetted, not run: our tests run on Linux."
	)
	return []ground{
		{
			about: "the wall", linux: "Namespaces, Landlock and a filter of system calls keep commands in the worktree, where wall.level says so.",
			macOS: noWall, windows: noWall,
		},
		{
			about: "secrets", linux: "Behind the wall no program reads what the rules deny, nor helve's own tokens.",
			macOS: noSecrets, windows: noSecrets,
		},
		{
			about: "processes", linux: "A keeper ends all that a command has started, daemons too, also when helve is killed.",
			macOS: "There is no keeper: a process that leaves its group and its parents is not found again, and commands go on when helve is killed.",
		},
		{
			about: "signals", linux: "A command is asked to end before it is ended, and jobs get any signal.",
			windows: "An interrupt is a break event, and every other signal ends the command at once.",
		},
		{
			about: "jobs", linux: "A command moves to the background with its output.",
			windows: "A command that moves to the background loses the output that follows. Jobs that another helve left are ended without what they started.",
		},
		{
			about: "the shell", linux: "bash, or the system's sh.",
			windows: "Commands need the bash of Git for Windows, beside git on the PATH or named by HELVE_GIT_BASH_PATH. cmd and PowerShell are not used.",
		},
		{
			about: "undo of commands", linux: "What a command may destroy is compared by size, times of contents and attributes, and identity.",
			macOS:   "A file whose time somebody has put back counts as unchanged.",
			windows: "A file whose time somebody has put back counts as unchanged, and files are not told apart by identity.",
		},
		{
			about: "opening files", linux: "By handle, folder by folder, through no link.",
			windows: "By name: who may write to a folder on the way can swap it between the decision and the opening.",
		},
		{
			about: "changing files", linux: "Names are swapped in one step, under a lock between processes; owner, attributes and access lists stay, and who has the file open for writing is noticed.",
			macOS:   "Extended attributes and access lists of a file are lost by a change, and a program that has it open for writing is not noticed.",
			windows: "Files are renamed over, with no lock between processes; owner and access list are not kept, and a kill between the files of one change leaves some of them changed. Folders are not flushed, so a power cut can take back what was told.",
		},
		{
			about: "other names of a file", linux: "A hard link to a denied file is found and denied.",
			windows: "Hard links to denied files are not looked for.",
		},
		{
			about: "upper and lower case", linux: "A rule is about every spelling of a name that opens the file.",
			macOS: "The usual disk opens .env as .ENV too, and a rule about *.env does not speak about that name: write a rule for each.",
		},
		{
			about: "searching", linux: "A program that goes on running keeps the tree and an index, told by the kernel what changes.",
			macOS: walked, windows: walked,
		},
		{
			about: "holes in files", linux: "Files with holes are read as quickly as what is in them.",
			macOS: "Holes are read as zeros, one by one.", windows: "Holes are read as zeros, one by one.",
		},
		{
			about: "files of secrets", linux: "Tokens that others may read, and trust that others may write, are refused.",
			windows: "Owner and mode are not checked: the access list of your profile is what protects tokens and trust.",
		},
		{
			about: "one-time links", linux: "A link to the console is good for the user who started the server.",
			macOS: anyUser, windows: anyUser,
		},
		{
			about: "finding a server", linux: "A server that lives is known by its lock.",
			windows: "It is known by its process number, which another program may have by now.",
		},
		{
			about: "language servers", linux: "memory_bytes ends a server that holds more.",
			macOS: unbounded, windows: unbounded,
		},
		{
			about: "MCP servers", linux: "Calls that a server which died never read are told apart, and can be made again.",
			macOS: unread, windows: unread,
		},
		{
			about: "tools of your own", linux: "Scripts work by handle, get any signal, and are stopped wherever they are.",
			macOS:   "Scripts are not told the system's release and memory.",
			windows: "Scripts work by name, know four signals, are not told the system's release and memory, and go on inside a long built-in function until it returns.",
		},
		{
			about: "formatters", linux: "A formatter that takes too long is ended with all that it has started.",
			windows: "Only the formatter itself is ended.",
		},
		{
			about: "helve chat", linux: "Any terminal.",
			windows: "It needs a console that obeys escape sequences, such as Windows Terminal.",
		},
		{
			about: "trial", linux: "Every test runs there.",
			macOS: untried, windows: untried,
		},
	}
}

// examineSystem reports what does not work on a system, whatever the configuration.
func examineSystem(goos string) []finding {
	switch goos {
	case "linux":
		return nil // the sandbox, which depends on the kernel, is tested separately
	case "darwin", "windows":
	default:
		return []finding{{"warn", "system", fmt.Sprintf("helve is not made for %s: what holds there was never looked at", goos)}}
	}
	var all []finding
	for _, g := range grounds() {
		if lacks := g.on(goos); lacks != "" {
			all = append(all, finding{"warn", "system", g.about + ": " + lacks})
		}
	}
	return all
}

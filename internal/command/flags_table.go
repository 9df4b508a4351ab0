package command

import (
	"slices"
	"strings"
)

func toolFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "rg":
		f = flags{runs: "--pre --hostname-bin -z --search-zip", takes: "ABCEefgjmMrtTd", plain: "-n -i -F -w -l -c -v -s -S -o -H -I -N -u -U -q -L -P -x -a -p"}
	case "tar", "gtar", "bsdtar":
		f = flags{
			runs:  "--to-command --checkpoint-action -I --use-compress-program -F --info-script --new-volume-script --rmt-command --rsh-command",
			takes: "bCfgHKLNTVX", plain: "-c -x -t -v -z -j -J -p -k -h", half: "--checkpoint", old: true,
		}
	case "sort", "gsort":
		f = flags{runs: "--compress-program", takes: "kotST", plain: "-u -n -r -f -b -h -V -s -z -c -C -m -d -g -i -M -R"}
	case "zip":
		f = flags{runs: "-TT --unzip-command", lone: true, among: true, plain: "-r -q -j -9 -1 -0 -m -u -T"}
	case "cpio":
		f = flags{runs: "--rsh-command", takes: "CDEFHIMORW"}
	case "install", "ginstall":
		f = flags{runs: "--strip-program", takes: "gmoSt", exact: "--strip"}
	case "ar", "ranlib", "nm", "gcc-ar", "gcc-ranlib", "gcc-nm", "objdump", "size", "strip", "objcopy":
		f = flags{runs: "--plugin -plugin", lone: true}
	case "ld", "ld.bfd", "ld.gold", "ld.lld", "gold", "lld", "mold":
		f = flags{runs: "--plugin -plugin --load-pass-plugin", lone: true}
	case "curl":
		f = flags{runs: "--engine"}
	case "enable":
		f = flags{runs: "-f"}
	case "hash":
		f = flags{runs: "-p"}
	default:
		return f, false
	}
	return f, true
}

func netFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "rsync":
		f = flags{runs: "-e --rsh --rsync-path", takes: "BMfT@"}
	case "ssh", "slogin", "autossh":
		f = flags{runs: "-o -F -I", takes: "BbcDEeiJLlmOpQRSWw", plain: "-4 -6 -A -a -C -f -N -n -q -T -t -v"}
	case "scp":
		f = flags{runs: "-o -F -S -D", takes: "ciJlP", plain: "-3 -4 -6 -B -C -p -q -r -v"}
	case "sftp":
		f = flags{runs: "-o -F -S -D", takes: "BbciJlPRs", plain: "-4 -6 -A -a -C -f -N -p -q -r -v"}
	case "mosh":
		f = flags{runs: "--ssh --client --server", exact: "--no-ssh-pty", lone: true}
	case "wget":
		f = flags{runs: "--use-askpass -e --execute --config", takes: "oaiBtOQTwPUl"}
	case "tcpdump":
		f = flags{runs: "-z", takes: "BcCEFGijmMrsTVwWy"}
	case "openssl":
		f = flags{runs: "-engine -provider -provider-path", lone: true}
	case "nc", "ncat", "netcat", "nc.openbsd", "nc.traditional":
		f = flags{runs: "-e -c --exec --sh-exec --lua-exec", takes: "gGiIMmOoPpqsTVWwXx"}
	case "dpkg":
		f = flags{runs: "--pre-invoke --post-invoke --status-logger", lone: true}
	case "xterm", "uxterm", "rxvt", "urxvt", "konsole", "alacritty", "terminator", "xfce4-terminal", "gnome-terminal":
		f = flags{runs: "-e -x --command --execute", lone: true}
	case "nmap":
		f = flags{runs: "--script", lone: true}
	default:
		return f, false
	}
	return f, true
}

func editorFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "man":
		f = flags{runs: "-P --pager -H --html -C --config-file", takes: "LmMSerEpRs"}
	case "vi", "vim", "nvim", "view", "ex", "gvim", "vimdiff", "rvim", "rview", "mvim", "evim":
		f = flags{runs: "-c --cmd -S -s -u -U", plus: true, takes: "TtiwW", plain: "-R -d -n -e -E -y -b -N -o -O -p"}
	case "emacs", "emacsclient":
		f = flags{runs: "--eval -eval --execute -f --funcall -l --load --script -e --batch -batch"}
	case "gdb":
		f = flags{
			runs: "-ex -iex -eiex -x -ix -eix -eval-command -init-eval-command -early-init-eval-command -command -init-command -early-init-command",
			any:  true, exact: "-e -c -i -p -s -n -q -d",
		}
	case "lldb":
		f = flags{runs: "-o -O -s -S -k -K --one-line --one-line-before-file --one-line-on-crash --source --source-before-file --source-on-crash --source-quietly", takes: "acfnpr"}
	default:
		return f, false
	}
	return f, true
}

func buildFlags(name string) (flags, bool) {
	var f flags
	switch name {
	case "go":
		f = flags{runs: "-exec -toolexec -vettool -overlay -modfile", lone: true}
	case "cargo":
		f = flags{runs: "--config", lone: true}
	case "just":
		f = flags{runs: "--shell --shell-command --command -c --chooser --cygpath", takes: "df"}
	case "make", "gmake":
		f = flags{runs: "--eval -E", takes: "CfIoWlj"}
	case "gcc", "g++", "cc", "c++", "clang", "clang++":
		f = flags{runs: "-wrapper -fplugin -fpass-plugin -load -specs --specs -B", lone: true}
	case "javac":
		f = flags{runs: "-processor -processorpath --processor-path --processor-module-path -Xplugin", lone: true}
	case "kotlinc", "kotlinc-jvm":
		f = flags{runs: "-Xplugin -Xcompiler-plugin", lone: true}
	case "ctest":
		f = flags{runs: "--test-command --build-makeprogram -S -D --script", lone: true}
	case "pylint":
		f = flags{runs: "--init-hook --load-plugins"}
	case "mypy", "dmypy":
		f = flags{runs: "--python-executable"}
	case "helm":
		f = flags{runs: "--post-renderer --kubeconfig"}
	case "kustomize":
		f = flags{runs: "--enable-exec --enable-alpha-plugins --helm-command"}
	case "kubectl", "oc":
		f = flags{runs: "--kubeconfig --enable-alpha-plugins --enable-helm --helm-command"}
	case "prove":
		f = flags{runs: "-e --exec", takes: "Ija"}
	case "agetty", "getty":
		f = flags{runs: "-l --login-program"}
	case "npm", "pnpm", "yarn":
		f = flags{runs: "--script-shell --node-options", lone: true}
	default:
		return f, false
	}
	return f, true
}

// hookFlags knows programs that run others before, behind or beside what they
// do.
func hookFlags(name string) (flags, bool) {
	f := flags{lone: true}
	switch name {
	case "aria2c":
		f.runs = "--on-download-complete --on-download-start --on-download-error --on-download-pause --on-download-stop --on-bt-download-complete --conf-path"
	case "borg", "borgmatic":
		f.runs = "--rsh --remote-path"
	case "restic", "rustic", "rclone":
		f.runs = "--password-command -o --option --repository-command --metadata-mapper --sftp-ssh"
	case "check_by_ssh":
		f.runs = "-o -F"
	case "dmsetup":
		f.runs = "--exec"
	case "facter":
		f.runs = "--custom-dir --external-dir"
	case "exiftool":
		f.runs = "-if -if0 -if1 -if2 -if3 -if4 -if5 -config -@"
	case "iptables", "ip6tables", "iptables-save", "ip6tables-save", "iptables-restore", "ip6tables-restore":
		f.runs = "--modprobe -M"
	case "ip":
		f.runs = "-b -ba -batch -force"
	case "perf":
		f.runs = "--objdump --addr2line --script"
	case "nginx":
		f.runs = "-c -g"
	case "nodemon":
		f.runs = "-x --exec"
	case "watchman-make":
		f.runs = "--run"
	case "flatpak":
		f.runs = "--command"
	case "mpv":
		f.runs = "--script --scripts --include --config-dir --input-conf --ytdl-raw-options --script-opts"
	case "feh":
		f.runs = "-A --action"
	case "ranger":
		f.runs = "--cmd --selectfile"
	case "lf", "vifm", "fim":
		f.runs = "-c -command -config"
	case "busctl":
		f.runs = "--address"
	case "certbot", "letsencrypt":
		f.runs = "--pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook --manual-cleanup-hook -c --config"
	case "gpg", "gpg2", "gpgv", "gpgsm":
		f.runs = "--agent-program --photo-viewer --dirmngr-program --pinentry-program --keyboxd-program --exec-path --options --homedir --load-extension"
	case "bazel", "bazelisk":
		f.runs = "--run_under --workspace_status_command --shell_executable --bazelrc"
	case "protoc":
		f.runs = "--plugin"
	case "ansible", "ansible-playbook", "ansible-vault", "ansible-pull", "ansible-inventory":
		f.runs = "--vault-password-file --vault-pass-file --vault-id --connection-password-file --conn-pass-file --become-password-file --become-pass-file --ssh-common-args --ssh-extra-args --module-path"
	case "unison":
		f.runs = "-sshcmd -merge -diff"
	case "acme.sh":
		f.runs = "--reloadcmd --pre-hook --post-hook --renew-hook --dnssleep"
	case "terragrunt":
		f.runs = "--terragrunt-tfpath --tf-path"
	case "mysql", "mariadb":
		f.runs = "--pager --plugin-dir"
	case "dtrace":
		f.runs = "-c -w"
	case "pppd":
		f.runs = "connect pty disconnect init plugin"
	case "dhclient":
		f.runs = "-sf -cf"
	case "udhcpc":
		f.runs = "-s --script"
	case "dnsmasq":
		f.runs = "--conf-script --dhcp-script --dhcp-luascript --dhcp-hostsfile -C --conf-file"
	case "openvpn":
		f.runs = "--up --down --script-security --route-up --route-pre-down --ipchange --learn-address --client-connect --client-disconnect --client-crresponse --auth-user-pass-verify " +
			"--tls-verify --tls-crypt-v2-verify --plugin --iproute --config --up-restart"
	case "yt-dlp", "youtube-dl":
		f.runs = "--exec --exec-before-download --external-downloader --downloader --netrc-cmd --config-location --config-locations --plugin-dirs --external-downloader-args --downloader-args --postprocessor-args --ppa --use-postprocessor --ffmpeg-location"
	case "scrot", "maim":
		f.runs = "-e --exec"
	case "pidstat":
		f.runs = "-e"
	case "plymouth":
		f.runs = "--command"
	case "socket":
		f = flags{runs: "-p", takes: "b"}
	case "sshfs":
		f.runs = "-o -F --ssh_command"
	case "sshuttle":
		f.runs = "-e --ssh-cmd --python"
	case "lftp":
		f.runs = "-c -e -f"
	case "smbclient":
		f.runs = "-c --command"
	case "ssh-keygen":
		f.runs = "-D -w"
	case "ssh-add":
		f.runs = "-s -S"
	case "ssh-copy-id":
		f.runs = "-o -F"
	case "rtorrent":
		f.runs = "-o -O"
	case "tshark", "wireshark", "dumpcap":
		f.runs = "-X"
	case "sqlmap":
		f.runs = "--eval --os-shell --os-cmd --os-pwn --sql-shell -c --alert --preprocess --postprocess --tamper"
	case "systemd-run":
		f.runs = "-S --shell -t --pty -P --pipe"
	case "ksu":
		f.runs = "-e -a"
	case "logrotate":
		f.runs = "-m --mail"
	case "multitail":
		f.runs = "-l -L -e -ex"
	case "cdist":
		f.runs = "-s --shell --remote-exec --remote-copy"
	case "dpkg-deb", "dpkg-buildpackage", "debuild":
		f.runs = "--hook-init --sign-command --pre-clean"
	case "rpm", "rpmquery", "rpmverify", "rpmdb", "rpmspec", "rpmbuild", "rpmkeys", "rpmsign":
		f.runs = "--eval -E --pipe --define -D --load --rcfile --macros -i --install -U --upgrade -F --freshen --predefine -ivh -Uvh --script --triggers"
		f.exact = "--info"
	default:
		return f, false
	}
	return f, true
}

// textFlags knows programs about texts and pictures that hand them to others,
// or run code of their own kind.
func textFlags(name string) (flags, bool) {
	f := flags{lone: true}
	switch name {
	case "enscript":
		f.runs = "-I --filter"
	case "groff", "nroff", "troff", "pic", "gpic":
		f = flags{runs: "-U", takes: "dfFILmMnoPrTwWK"}
	case "cowsay", "cowthink":
		f.runs = "-f"
	case "expect":
		f.runs = "-c"
	case "gnuplot":
		f.runs = "-e -c"
	case "pygmentize":
		f.runs = "-x"
	case "lynx":
		f.runs = "-editor -cfg"
	case "ps2pdf", "ps2ascii", "pdf2ps", "eps2eps":
		f.runs = "-dNOSAFER -dDELAYSAFER"
	case "dvips":
		f = flags{runs: "-R0", lone: true}
	case "fzf", "sk", "peco", "skim":
		f.runs = "--bind --preview --listen --listen-unsafe --with-shell --exec --cmd -c"
	case "latexmk":
		f.runs = "-latex -pdflatex -xelatex -lualatex -e -r -pretex -usepretex -pdfxelatex -pdflualatex"
	case "tex", "etex", "pdftex", "xetex", "luatex", "luahbtex", "latex", "pdflatex", "xelatex", "lualatex", "ptex", "uptex", "platex", "uplatex", "mf", "mpost", "context":
		f = flags{any: true, runs: "-shell-escape -enable-write18 -shell-restricted", exact: "-s -e"}
	case "ghc", "runghc":
		f.runs = "-e --eval -ghci-script -pgmF -pgmP -pgmL -pgmc -pgml -pgma -pgmi -F -fplugin"
	case "pandoc":
		f.runs = "-F --filter -L --lua-filter --pdf-engine --pdf-engine-opt -d --defaults"
	case "gs", "ghostscript", "gsc":
		f.runs = "-c -dNOSAFER -dDELAYSAFER"
	case "gimp":
		f.runs = "-b --batch --batch-interpreter"
	case "inkscape":
		f.runs = "--actions --shell --action-list -x --extension"
	case "nano", "pico", "rnano", "rpico":
		f.runs = "-s --speller -f --rcfile"
	case "kak":
		f.runs = "-e -E"
	case "less", "zless", "bzless", "xzless", "most", "more":
		f = flags{plus: true, lone: true, runs: "--lesskey-content --lesskey-src --lesskey-file -k"}
	case "bat", "batcat", "delta", "ack", "ag", "ack-grep":
		f.runs = "--pager --config-file"
	case "mail", "mailx", "s-nail", "nail":
		f.runs = "--exec -~ -X -S"
	case "mutt", "neomutt":
		f.runs = "-e -F"
	case "debugfs":
		f.runs = "-R -f"
	case "cmake":
		f.runs = "-P -E -C"
	case "hg", "chg":
		f.runs = "--config --config-file --debugger --ssh --remotecmd -e"
	case "svn", "svnadmin", "svnlook":
		f.runs = "--diff-cmd --diff3-cmd --editor-cmd --config-option"
	case "cvs":
		f.runs = "-e"
	case "bzr", "brz":
		f.runs = "--using"
	case "pip", "pip3":
		f.runs = "--editor --python"
	case "gem":
		f.runs = "-e --editor"
	case "perlbug", "perlthanks":
		f.runs = "-e"
	case "minicom", "picocom":
		f.runs = "-S --script --send-cmd --receive-cmd -s -v"
	case "msgfilter", "msgexec":
		f.runs = "-P"
	case "dstat":
		f.runs = "--plugin"
	case "sysctl":
		f.runs = "-w --write -p --load --system"
	case "diff3", "sdiff":
		f.runs = "--diff-program"
	case "jq", "gojq", "jaq":
		f.runs = "-L --library-path"
	case "ctags", "etags", "universal-ctags":
		f.runs = "--options --optlib-dir --_pcre2"
	default:
		return f, false
	}
	return f, true
}

// runningWord finds a word that makes a program run another one, and is no
// option.
func runningWord(name string, words []Word) (string, bool) {
	var verbs string
	holds := func(string) bool { return false }
	switch name {
	case "csvtool":
		verbs = "call"
	case "task", "xdotool", "knife":
		verbs = "execute exec"
	case "ctr", "nerdctl":
		verbs = "run exec"
	case "cdist":
		verbs = "shell"
	case "yum", "dnf":
		verbs = "localinstall"
	case "snap":
		verbs = "--dangerous --devmode --classic"
	case "dpkg":
		verbs = "-i --install --unpack --configure"
	case "socat":
		holds = func(s string) bool {
			kind, _, _ := strings.Cut(strings.ToLower(s), ":")
			return slices.Contains([]string{"exec", "system", "shell"}, kind[strings.LastIndex(kind, "!")+1:])
		}
	case "sysctl":
		holds = func(s string) bool { return strings.Contains(s, "=") }
	case "gh", "glab":
		holds = func(s string) bool { return strings.HasPrefix(s, "!") || s == "--shell" }
	case "sox", "play", "rec", "convert", "magick", "composite", "montage", "mogrify", "dvips", "psql":
		holds = func(s string) bool { return strings.HasPrefix(s, "|") || strings.HasPrefix(s, "-o|") }
	case "gs", "ghostscript":
		holds = func(s string) bool { return strings.Contains(s, "%pipe%") || strings.Contains(s, "=|") }
	case "service", "invoke-rc.d":
		holds = func(s string) bool { return strings.Contains(s, "/") }
	default:
		return "", false
	}
	for _, w := range words[1:] {
		if holds(w.Shape) || slices.Contains(strings.Fields(verbs), w.Shape) {
			return w.Shape, true
		}
	}
	return "", false
}

// keepsSetting finds the words by which a program keeps a setting that may make
// it, or another one, run a program later.
func keepsSetting(name string, words []Word) (string, bool) {
	var verbs []string
	switch name {
	case "npm", "pnpm", "yarn", "bun":
		verbs = []string{"config set", "config edit", "c set", "set", "pkg set"}
	case "go":
		verbs = []string{"env -w"}
	case "gh", "glab":
		verbs = []string{"config set", "alias import", "extension install", "extension exec"}
	case "jj":
		verbs = []string{"config set", "config edit"}
	case "hg", "chg":
		verbs = []string{"config"}
	case "kubectl", "oc":
		verbs = []string{"config set", "config set-credentials", "krew install"}
	case "aws":
		verbs = []string{"configure set"}
	case "systemctl":
		verbs = []string{"set-environment", "import-environment", "link", "edit"}
	case "launchctl":
		verbs = []string{"setenv", "load", "bootstrap", "submit"}
	case "direnv":
		verbs = []string{"allow", "permit", "grant"}
	case "mise":
		verbs = []string{"trust", "set"}
	case "asdf":
		verbs = []string{"plugin add", "plugin-add"}
	case "helm":
		verbs = []string{"plugin install"}
	case "docker":
		verbs = []string{"plugin install"}
	case "composer":
		verbs = []string{"config"}
	case "gsettings", "xdg-settings":
		verbs = []string{"set"}
	case "dconf", "defaults":
		verbs = []string{"write"}
	case "update-alternatives", "alternatives":
		verbs = []string{"--set", "--install", "--config"}
	case "chsh", "usermod":
		verbs = []string{"-s", "--shell"}
	case "code", "codium", "cursor":
		verbs = []string{"--install-extension"}
	default:
		return "", false
	}
	for i, w := range words[1:] {
		for _, verb := range verbs {
			first, second, two := strings.Cut(verb, " ")
			at := i + 2
			if w.Shape != first || first == "set" && i > 0 {
				continue
			}
			for two && at < len(words) && words[at].Shape != second && (isOption(words[at].Shape) || at > i+2 && isOption(words[at-1].Shape)) {
				at++ // an option, or the value of one
			}
			if !two || at < len(words) && words[at].Shape == second {
				return verb, true
			}
		}
	}
	return "", false
}

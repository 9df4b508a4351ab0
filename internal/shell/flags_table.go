package shell

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
		f = flags{runs: "-o -F", takes: "BbcDEeIiJLlmOpQRSWw", plain: "-4 -6 -A -a -C -f -N -n -q -T -t -v"}
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
	case "make", "gmake":
		f = flags{runs: "--eval -E", takes: "CfIoWlj"}
	case "gcc", "g++", "cc", "c++", "clang", "clang++":
		f = flags{runs: "-wrapper -fplugin -fpass-plugin -specs --specs -B", lone: true}
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

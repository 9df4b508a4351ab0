//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Available reports what this machine offers for a sandbox. It does not report that a sandbox
// works; only [Prove] does.
func Available() Machine {
	var m Machine
	lacks := func(format string, args ...any) { m.Missing = append(m.Missing, fmt.Sprintf(format, args...)) }
	abi, err := landlockABI()
	switch {
	case err == nil:
		m.Landlock = abi
	case errors.Is(err, unix.EOPNOTSUPP):
		lacks("Landlock is in the kernel but switched off: add landlock to the lsm= list of the kernel's command line.")
	case errors.Is(err, unix.EPERM):
		lacks("The system call filter of the container forbids Landlock: use a newer container engine, or a seccomp profile that allows landlock_create_ruleset.")
	default:
		lacks("The kernel has no Landlock: it takes Linux 5.13 or later with CONFIG_SECURITY_LANDLOCK.")
	}
	if status("Seccomp") != "" {
		m.Seccomp = true
	} else {
		lacks("The kernel has no system call filters: it takes CONFIG_SECCOMP_FILTER.")
	}
	if err := makeNamespaces(); err != nil {
		lacks("%s", namespaceAdvice(err))
	} else {
		m.Namespaces = true
		if setting("kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0 {
			lacks("AppArmor lets users make namespaces but not use them: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give this program an AppArmor profile with userns.")
		}
	}
	return m
}

// makeNamespaces tries to start a process in namespaces. The program does
// not exist: if that is what fails, all before it worked.
func makeNamespaces() error {
	attr := &os.ProcAttr{Sys: Profile{Level: Strict}.Attr()}
	process, err := os.StartProcess("/proc/self/no-such-program", []string{"none"}, attr)
	if err == nil { // must not happen, and must not stay
		return errors.Join(process.Kill(), process.Release())
	}
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// namespaceAdvice says why namespaces are not available, and what to do.
func namespaceAdvice(err error) string {
	switch {
	case setting("kernel/unprivileged_userns_clone") == "0":
		return "Namespaces are kept from ordinary users: sysctl kernel.unprivileged_userns_clone=1."
	case setting("user/max_user_namespaces") == "0":
		return "The number of user namespaces is set to none: sysctl user.max_user_namespaces=10000."
	case contained():
		return fmt.Sprintf("The container forbids namespaces (%v): start it with --security-opt seccomp=unconfined, or a seccomp profile that allows clone and unshare with new namespaces, and with --security-opt systempaths=unconfined.", err)
	default:
		return fmt.Sprintf("Namespaces can not be made (%v): it takes CONFIG_USER_NS, CONFIG_PID_NS and CONFIG_NET_NS, and a security module that lets users make them.", err)
	}
}

func setting(name string) string {
	text, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// contained guesses whether this is a container.
func contained() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(mark); err == nil {
			return true
		}
	}
	return status("Seccomp") == "2"
}

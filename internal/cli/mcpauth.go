package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve"
	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/text"
	"github.com/helve-dev/helve/mcp"
)

func (a *app) mcpAuthCommand() *cobra.Command {
	var noBrowser, forget, asJSON bool
	c := &cobra.Command{
		Use:   "auth [NAME]",
		Short: "Sign in to a remote MCP server",
		Long: `Auth opens the browser to sign in to a remote MCP server, and keeps the token in
a file that only you can read. It is renewed by itself. Without a name auth lists
the servers that you are signed in to.

On a machine without a browser, --no-browser prints the address to open
elsewhere, and takes the address that you end up at.`,
		Example: `  helve mcp auth tracker
  helve mcp auth tracker --no-browser
  helve mcp auth tracker --forget
  helve mcp auth`,
		Args: atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && forget:
				return usagef("which one is to be forgotten?")
			case len(args) == 0:
				return a.listSignIns(asJSON)
			case forget:
				return a.forgetSignIn(args[0])
			}
			return a.signIn(c.Context(), args[0], noBrowser)
		},
	}
	c.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address, and read the one that the browser ended at")
	c.Flags().BoolVar(&forget, "forget", false, "throw the token away")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// signIns is the file that tokens are kept in.
func (a *app) signIns() (*auth.SignIns, error) {
	data, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	return auth.OpenSignIns(filepath.Join(data, "mcp-auth.json")), nil
}

func (a *app) listSignIns(asJSON bool) error {
	store, err := a.signIns()
	if err != nil {
		return err
	}
	known, err := store.Known()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(append([]auth.SignInInfo{}, known...))
	}
	tw := columns(a.Stdout)
	for _, k := range known {
		until := "no end is known"
		if !k.Expiry.IsZero() {
			until = "until " + formatTime(k.Expiry.UnixMilli())
		}
		if k.Refresh {
			until += ", renewed by itself"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", text.VisibleLine(k.Server), text.VisibleLine(k.URL), until, text.VisibleLine(strings.Join(k.Scopes, " ")))
	}
	return tw.Flush()
}

func (a *app) forgetSignIn(name string) error {
	store, err := a.signIns()
	if err != nil {
		return err
	}
	known, err := store.Known()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(known, func(k auth.SignInInfo) bool { return k.Server == name }) {
		return fmt.Errorf("nobody is signed in to %q; 'helve mcp auth' lists the servers", name)
	}
	if err := store.Forget(name); err != nil {
		return err
	}
	a.printNote("the token of " + name + " is thrown away")
	return nil
}

// signIn runs a sign-in of the person and waits for it.
func (a *app) signIn(ctx context.Context, name string, noBrowser bool) error {
	s, err := a.load()
	if err != nil {
		return err
	}
	a.warn(s.cfg)
	rt, err := helve.Open(a.options(s))
	if err != nil {
		return err
	}
	defer rt.Close()
	way := mcp.SignIn{Tell: a.printNote, Show: func(url string) {
		a.printNote("open this address to sign in:")
		fmt.Fprintln(a.Stderr, safe(url))
	}}
	if noBrowser {
		way.Paste = a.paste
	} else {
		way.Open = browse
	}
	if err := rt.MCP().SignIn(ctx, name, way); err != nil {
		if _, told := errors.AsType[*auth.SignInError](err); !told && errors.Is(err, auth.ErrSignIn) {
			return fmt.Errorf("%w. If the server takes a fixed token, give it with 'helve mcp add %s --force --url … --header Authorization=…'", err, name)
		}
		return knownServers(rt, err)
	}
	a.printNote("signed in to " + name)
	return nil
}

// paste asks for the address that the browser ended at.
func (a *app) paste(ctx context.Context) (string, error) {
	a.printNote("then paste the address that the browser ended at, though it shows an error:")
	type line struct {
		text string
		err  error
	}
	got := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(a.Stdin).ReadString('\n')
		if err != nil && text != "" {
			err = nil
		}
		got <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-got:
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// browse opens an address in the person's browser.
func browse(url string) error {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return errors.New("only web addresses are opened")
	}
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", url)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	default:
		cmd = exec.Command("xdg-open", url)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("opening the browser: %w", err)
	}
	go cmd.Wait() //nolint:errcheck // it is the browser's affair
	return nil
}

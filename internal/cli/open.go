package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/helve-dev/helve/internal/auth"
	"github.com/helve-dev/helve/internal/text"
)

func (a *app) openCommand() *cobra.Command {
	var show bool
	c := &cobra.Command{
		Use:   "open",
		Short: "Open the console of the server that runs for this folder",
		Long: `Open asks the server that 'helve serve' runs for this folder, or for one above
it, for a link to its console, and opens that in the browser. The link works
once, for ten minutes.`,
		Example: `  helve open
  helve open --print`,
		Args: atMost(0),
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := a.servers()
			if err != nil {
				return err
			}
			server, found := here(all, a.workDir())
			switch {
			case !found && len(all) == 0:
				return errors.New("no server runs: start one with 'helve serve --open'")
			case !found && len(all) > 1:
				return fmt.Errorf("no server runs for this folder, but one for %s: give --dir, or start one here with 'helve serve --open'", all[0].Directory)
			case !found:
				return fmt.Errorf("no server runs for this folder; one runs for %s: give --dir, or start one here with 'helve serve --open'", all[0].Directory)
			}
			var link struct{ URL string }
			if err := a.requestJSON(c.Context(), server, http.MethodPost, "/v1/links", struct{}{}, &link); err != nil {
				return err
			}
			if show || browse(link.URL) != nil {
				fmt.Fprintln(a.Stdout, safe(link.URL))
				return nil
			}
			a.printNote("opened in the browser; if nothing shows there, 'helve open --print' gives a link")
			return nil
		},
	}
	c.Flags().BoolVar(&show, "print", false, "print the link and open nothing")
	return c
}

// requestJSON sends a request to a server of the same user and decodes its response.
func (a *app) requestJSON(ctx context.Context, to running, method, path string, sent, answer any) error {
	token, err := auth.Token(to.TokenFile)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var body io.Reader
	if sent != nil {
		text, err := json.Marshal(sent)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.Local+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := to.client().Do(req)
	if err != nil {
		return fmt.Errorf("asking the server at %s: %w", to.URL, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 8<<20))
	if err != nil {
		return fmt.Errorf("asking the server at %s: %w", to.URL, err)
	}
	if resp.StatusCode >= 300 {
		var problem struct{ Title, Detail string }
		_ = json.Unmarshal(text, &problem) // what is not there is not said
		return fmt.Errorf("the server at %s says: %s %s", to.URL, resp.Status, problem.Detail)
	}
	return json.Unmarshal(text, answer)
}

// client returns a client for a server of this machine. It accepts exactly the certificate that the
// server recorded, whoever signed it.
func (r running) client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // in favour of what follows
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || hashOf(s.PeerCertificates[0].Raw) != r.Certificate {
				return errors.New("another server is there: it shows another certificate")
			}
			return nil
		},
	}}}
}

// tellWaiting prints the pending requests of a server.
func (a *app) tellWaiting(ctx context.Context, at running) {
	var waiting struct{ Permissions, Questions []json.RawMessage }
	if err := a.requestJSON(ctx, at, http.MethodGet, "/v1/requests", nil, &waiting); err != nil {
		fmt.Fprintf(a.Stdout, "  it does not answer: %s\n", safe(err.Error()))
		return
	}
	if n := len(waiting.Permissions) + len(waiting.Questions); n > 0 {
		fmt.Fprintf(a.Stdout, "  %s\n", a.style(a.Stdout).Yellow(text.Count(n, "request waits", "requests wait")+" for your answer there"))
	}
}

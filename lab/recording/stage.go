package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/helve-dev/helve/internal/modeltest"
)

// The screen of a recording.
const (
	screenCols = 98
	screenRows = 20
)

// patience is how long something on the screen is waited for.
const patience = 30 * time.Second

var errNothing = errors.New("nothing happened on the screen")

// A stage is a real terminal, which tmux keeps: a shell in the home of somebody
// called Ada, in a file system that nobody else sees.
type stage struct {
	dir   string // for the socket and the model's script
	model *exec.Cmd
}

// raise makes a stage. The commands that are typed find helve by its name, and a
// model that plays the script. files are laid into the home, by name.
func raise(ctx context.Context, helve, script string, files map[string]string) (*stage, error) {
	dir, err := os.MkdirTemp("", "recording")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: dir}
	url, err := s.cast(script)
	if err == nil {
		err = s.open(ctx, helve, url, files)
	}
	if err != nil {
		s.strike()
		return nil, err
	}
	return s, nil
}

// cast starts the model.
func (s *stage) cast(script string) (url string, err error) {
	name := filepath.Join(s.dir, "script.json")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		return "", err
	}
	argv := modeltest.Command(name)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	s.model = cmd
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the model did not start: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// open starts the terminal. The home is /home/ada, as the screen will show it: a
// mount that only the terminal has.
func (s *stage) open(ctx context.Context, helve, url string, files map[string]string) error {
	helve, err := filepath.Abs(helve)
	if err != nil {
		return err
	}
	if _, err := os.Stat(helve); err != nil {
		return err
	}
	home := filepath.Join(s.dir, "home")
	files[".bashrc"] = "PS1='$ '\n"
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	flags := "-m"
	if os.Getuid() != 0 {
		flags = "-rm"
	}
	const enter = `set -e
mount -t tmpfs none /home
mkdir -p /home/ada/shop/.git /home/ada/.bin
cp -R "$1/home/." /home/ada/
ln -s "$2" /home/ada/.bin/helve
cd /home/ada/shop
exec tmux -S "$1/tmux" -u -f /dev/null new-session -d -x "$4" -y "$5" env -i HOME=/home/ada USER=ada \
	PATH="/home/ada/.bin:$PATH" TERM=screen-256color LANG=C.UTF-8 HELVE_MODEL=script/script \
	HELVE_CONFIG_CONTENT="$3" bash --rcfile /home/ada/.bashrc
`
	provider := `{"provider":{"script":{"options":{"baseURL":"` + url + `","apiKey":"none"},"models":{"script":{}}}}}`
	cmd := exec.CommandContext(ctx, "unshare", flags, "sh", "-c", enter, "enter", s.dir, helve, provider,
		strconv.Itoa(screenCols), strconv.Itoa(screenRows))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the terminal can not be opened, which takes Linux, tmux, bash and unshare: %w: %s", err, out)
	}
	_, err = s.tmux("set-option", "-g", "status", "off")
	return err
}

// strike ends the terminal and the model, and removes what they left.
func (s *stage) strike() {
	_, _ = s.tmux("kill-server") // it may never have been there
	if s.model != nil {
		_ = s.model.Process.Kill()
		_ = s.model.Wait()
	}
	_ = os.RemoveAll(s.dir)
}

func (s *stage) tmux(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(s.dir, "tmux"), "-u"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// types sends characters, as from a keyboard.
func (s *stage) types(text string) error {
	_, err := s.tmux("send-keys", "-l", "--", text)
	return err
}

// presses sends a key that has a name.
func (s *stage) presses(key string) error {
	_, err := s.tmux("send-keys", key)
	return err
}

// sees is what the screen shows: as it is to be drawn, and as plain text up to
// the row of the cursor. tmux is asked for all of it at once, so that text and
// cursor are of the same moment.
func (s *stage) sees() (rows []line, plain string, err error) {
	out, err := s.tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}", ";", "capture-pane", "-e", "-p")
	if err != nil {
		return nil, "", err
	}
	where, captured, _ := strings.Cut(out, "\n")
	var x, y, shown int
	if _, err := fmt.Sscan(where, &x, &y, &shown); err != nil {
		return nil, "", fmt.Errorf("where the cursor is: %q: %w", where, err)
	}
	if shown == 0 {
		x = -1
	}
	return screenOf(captured, x, y), plainOf(captured, y), nil
}

package mcpserve

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/helve-dev/helve/internal/disk"
	"github.com/helve-dev/helve/internal/text"
)

// maxRoots is how many roots of a client are looked at.
const maxRoots = 100

// folders asks the client for its roots and returns those that can be worked
// in.
func (se *session) folders(ctx context.Context) ([]string, error) {
	asking, cancel := context.WithTimeout(ctx, rootsWait)
	defer cancel()
	stop := context.AfterFunc(se.life, cancel)
	defer stop()
	res, err := se.ss.ListRoots(asking, nil)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for i, r := range res.Roots {
		if i == maxRoots {
			se.warn(ctx, "Only the first %d roots are taken.", maxRoots)
			break
		}
		if r == nil {
			continue
		}
		dir, err := rootFolder(r.URI)
		if err == nil {
			err = checkCeilings(dir, se.s.opt.Roots)
		}
		if err != nil {
			said, _ := text.Cut(text.VisibleLine(r.URI), 500)
			se.warn(ctx, "The root %s is ignored: %v", said, err)
			continue
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// rootFolder returns the folder that a root means, with all links resolved.
func rootFolder(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", errors.New("it is no URI")
	case !strings.EqualFold(u.Scheme, "file"):
		return "", errors.New("it is no file: URI")
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
		return "", errors.New("it is on another machine")
	case u.Opaque != "" || strings.ContainsRune(u.Path, 0):
		return "", errors.New("it is no absolute path")
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", errors.New("it is no absolute path")
	}
	path, err = filepath.EvalSymlinks(filepath.Clean(path))
	if err != nil {
		return "", errors.New("there is no such folder")
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return "", errors.New("there is no such folder")
	}
	return path, nil
}

// checkCeilings returns an error for a folder that is in none of the ceilings, if there are any.
func checkCeilings(dir string, ceilings []string) error {
	if len(ceilings) == 0 {
		return nil
	}
	if slices.ContainsFunc(ceilings, func(c string) bool { return disk.Within(c, dir) }) {
		return nil
	}
	return fmt.Errorf("it does not lie in %s", strings.Join(ceilings, " or "))
}

// evalLinks is a path with its links resolved, or as it is where that fails.
func evalLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

package scripthost

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// The limits of one sweep. The next one continues.
const (
	sweepNames   = 50_000 // names in the folder for temporary files
	sweepFolders = 200    // folders that look like ours
)

// isTempName reports whether a folder is named like the folders of scripts.
func isTempName(name string) bool {
	number, ok := strings.CutPrefix(name, tempPrefix)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

// removeStale removes the folders that killed processes left in dir: those of this user whose lock
// is free. What cannot be removed is left.
func removeStale(dir string) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = top.Close() }()
	for _, name := range tempNames(top) {
		sweepOne(top, name)
	}
}

// tempNames lists the folders that are named like ours, without links.
func tempNames(top *os.Root) (found []string) {
	f, err := top.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	const some = 1000
	for range sweepNames / some {
		entries, err := f.ReadDir(some)
		for _, e := range entries {
			if e.IsDir() && isTempName(e.Name()) {
				found = append(found, e.Name())
			}
			if len(found) == sweepFolders {
				return found
			}
		}
		if err != nil {
			return found // the end, or nothing to be done about
		}
	}
	return found
}

// sweepOne removes a folder if it is abandoned. All access goes through the opened folder, whatever
// replaces it meanwhile.
func sweepOne(top *os.Root, name string) {
	room, err := enterTemp(top, name)
	if err != nil {
		return
	}
	defer func() { _ = room.Close() }()
	lock, err := seizeTemp(room)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if lock != nil {
		defer func() { _ = lock.Close() }()
		if err := room.RemoveAll(tempInner); err != nil {
			return // the lock stays for the next who tries
		}
		if room.Remove(tempLock) != nil { // as long as it is open, on Windows
			_ = lock.Close()
			_ = room.Remove(tempLock)
		}
	}
	// Without a lock it was just made, is half removed, or where there are no
	// locks: only an empty one goes, and who is making it makes another.
	_ = room.Close() // Windows removes nothing that is open
	_ = top.Remove(name)
}

// errNotTemp reports a folder that is not to be removed.
var errNotTemp = errors.New("not an abandoned folder of scripts")

// enterTemp opens a real folder of this user.
func enterTemp(top *os.Root, name string) (*os.Root, error) {
	info, err := top.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || !ownTemp(info) {
		return nil, errNotTemp
	}
	room, err := top.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	inside, err := room.Stat(".")
	if err == nil && !os.SameFile(info, inside) {
		err = errNotTemp
	}
	if err != nil {
		_ = room.Close()
		return nil, err
	}
	return room, nil
}

// seizeTemp takes the lock of a folder whose owner is gone.
func seizeTemp(room *os.Root) (*flock.Flock, error) {
	there, err := room.Lstat(tempLock)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() {
		return nil, errNotTemp
	}
	lock := flock.New(filepath.Join(room.Name(), tempLock), flock.SetFlag(os.O_RDWR))
	ok, err := lock.TryLock()
	if err == nil && !ok {
		err = errNotTemp // it is in use, or another process checks it too
	}
	var held fs.FileInfo
	if err == nil {
		held, err = lock.Stat()
	}
	if err == nil && !os.SameFile(there, held) {
		err = errNotTemp
	}
	if err != nil {
		_ = lock.Close()
		if errors.Is(err, fs.ErrNotExist) {
			err = errNotTemp // it goes just now
		}
		return nil, err
	}
	return lock, nil
}

package script

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	lib "modernc.org/libquickjs"
)

var errBytecode = errors.New("bytecode is damaged or of another version of the engine")

// seal is what bytecode begins with: the engine's version and a sum. The engine itself checks
// nothing, and damaged bytecode could do anything. The sum is no signature: bytecode has to come
// from a place only we write to.
func seal(code []byte) []byte {
	sum := sha256.Sum256(code)
	return slices.Concat([]byte("helve-js "+lib.MCONFIG_VERSION+"\n"), sum[:])
}

// Compile turns a script into bytecode for [VM.Load], which loads faster than source. A syntax
// error is returned as a [*Thrown].
func Compile(name, source string) (code []byte, err error) {
	never := func() bool { return false }
	e, err := newEngine(engineOptions{memory: 512 << 20, given: never, stop: never, rejected: func(_, _ value, _ bool) {}})
	if err != nil {
		return nil, err
	}
	defer e.close()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: compiling %s: %v", ErrLost, name, p)
		}
	}()
	code, err = e.compile(name, source)
	if err == nil {
		return slices.Concat(seal(code), code), nil
	}
	raised, ok := errors.AsType[*raised](err)
	if !ok {
		return nil, err
	}
	none := func([]value) value { return undefined() }
	if err := e.boot(none, none, none, none, none, none); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoEngine, err)
	}
	text, err := e.callFunction(e.describe, raised.thrown)
	if err != nil {
		return nil, err
	}
	b, _ := e.toText(text)
	return nil, parseThrown(b)
}

// unseal checks bytecode.
func unseal(sealed []byte) ([]byte, error) {
	n := len(seal(nil))
	if len(sealed) < n {
		return nil, errBytecode
	}
	if code := sealed[n:]; bytes.Equal(seal(code), sealed[:n]) {
		return code, nil
	}
	return nil, errBytecode
}

//go:build !(386 || arm)

package script

import (
	lib "modernc.org/libquickjs"
)

func tagOf(v lib.TJSValue) int32 { return int32(v.Ftag) }

func undefined() lib.TJSValue { return lib.TJSValue{Ftag: lib.EJS_TAG_UNDEFINED} }

func exception() lib.TJSValue { return lib.TJSValue{Ftag: lib.EJS_TAG_EXCEPTION} }

// pointerOf is the identity of an object.
func pointerOf(v lib.TJSValue) uint64 { return v.Fu.Fuint641 }

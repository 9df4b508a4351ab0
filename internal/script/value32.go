//go:build 386 || arm

package script

import (
	lib "modernc.org/libquickjs"
)

// On 32 bits a value is a number whose upper half is the tag.

func tagOf(v lib.TJSValue) int32 { return int32(v >> 32) }

func undefined() lib.TJSValue { return lib.TJSValue(lib.EJS_TAG_UNDEFINED) << 32 }

func exception() lib.TJSValue { return lib.TJSValue(lib.EJS_TAG_EXCEPTION) << 32 }

// pointerOf is the identity of an object.
func pointerOf(v lib.TJSValue) uint64 { return uint64(uint32(v)) }

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/helve-dev/helve/event"
	"github.com/helve-dev/helve/message"
	"github.com/helve-dev/helve/permission"
	"github.com/helve-dev/helve/tool"
)

// What the package event says that a runtime tells is what the document
// describes.
func TestEventKinds(t *testing.T) {
	t.Parallel()
	told := map[string]string{} // the name of the struct, by type
	method := regexp.MustCompile(`func \((\w+)\) Type\(\) string +\{ return "([^"]+)" \}`)
	for _, name := range []string{"../../event/event.go", "../../event/session.go"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range method.FindAllStringSubmatch(string(src), -1) {
			told[m[2]] = m[1]
		}
	}
	described := map[string]string{}
	for _, k := range eventKinds() {
		described[k.name] = reflect.TypeOf(k.told).Name()
		if k.about == "" {
			t.Errorf("%s is not explained", k.name)
		}
	}
	if !maps.Equal(told, described) {
		t.Errorf("told: %v\ndescribed: %v", told, described)
	}
}

// Every event, with all that it can hold, is what the document says.
func TestEventsAreDescribed(t *testing.T) {
	t.Parallel()
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	doc := documentOf(t, s)
	// check holds an event against what the document says at a place below Event.
	check := func(at, kind string, body any) error {
		schema, err := doc.compiler.Compile("mem:///openapi.json#/components/schemas/Event" + at)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(map[string]any{"seq": 1, "time": time.Now(), "type": kind, "properties": body})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}
	for i, k := range eventKinds() {
		alone := fmt.Sprintf("/oneOf/%d", i) // its complaints are shorter
		for _, role := range []string{message.User, message.Assistant} {
			v := reflect.New(reflect.TypeOf(k.told))
			fill(v.Elem(), role, 0)
			if err := check(alone, k.name, v.Interface()); err != nil {
				t.Errorf("%s: %v", k.name, err)
			} else if check("", k.name, v.Interface()) != nil {
				t.Errorf("%s could be something else too", k.name)
			}
		}
		if empty := reflect.Zero(reflect.TypeOf(k.told)).Interface().(event.Payload); k.name != "message.updated" { // which has a role
			if err := check(alone, k.name, solidEvent(empty)); err != nil {
				t.Errorf("%s, empty: %v", k.name, err)
			}
		}
		if k.form().NumField() > 0 {
			if err := check("", k.name, fields{"surprise": 1}); err == nil {
				t.Errorf("%s may hold anything", k.name)
			}
		}
	}
	if err := check("", "of.a.plugin", fields{"anything": "at all"}); err != nil {
		t.Error(err)
	}
	if err := check("", "events.missed", missed{}); err != nil {
		t.Error(err)
	}
	if err := check("", "tools.changed", event.ToolsChanged{}); err != nil {
		t.Error(err)
	}
}

// fill sets all that a value holds and encodes.
func fill(v reflect.Value, role string, deep int) {
	switch x := v.Addr().Interface().(type) {
	case *message.Info:
		defer func() { x.Role = role }()
	case *tool.Inner:
		defer func() { x.Status = "completed" }()
	case *permission.Verdict:
		*x = permission.ReplyOnce
		return
	case *json.RawMessage:
		*x = json.RawMessage(`{"a":1}`)
		return
	case *time.Time:
		*x = time.Now()
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7.5)
	case reflect.Pointer:
		if deep < 8 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), role, deep+1)
		}
	case reflect.Slice:
		n := 1
		if deep > 6 { // it may hold itself
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), role, deep+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		if v.Type().Elem().Kind() == reflect.Interface {
			v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), reflect.ValueOf("value"))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				fill(v.Field(i), role, deep+1)
			}
		}
	}
}

// The engine's own side of calls and requests. It keeps what it needs of the built-in objects, because scripts may change them.
(function (global, hostNow, hostLater, hostDrop, hostFinish, hostText, hostBytes) {
  "use strict";
  const { parse, stringify } = JSON;
  const { keys, defineProperty } = Object;
  const { isView } = ArrayBuffer;
  const Buffer = ArrayBuffer, Shared = SharedArrayBuffer, Text = String, List = Array.isArray;
  const Pledge = Promise, Wrong = TypeError;
  const classes = { __proto__: null, Error, TypeError, RangeError, SyntaxError, ReferenceError, URIError, EvalError };
  const waiting = { __proto__: null };
  let last = 0;

  // failure makes the error that a host's refusal is thrown as.
  function failure(text) {
    const { name, message, ...rest } = parse(text);
    const error = new (classes[name] ?? Error)(message);
    if (error.name !== name) defineProperty(error, "name", { value: name, configurable: true, writable: true });
    const names = keys(rest);
    for (let i = 0; i < names.length; i++) error[names[i]] = rest[names[i]];
    return error;
  }

  function check(op, json) {
    if (typeof op !== "string" || typeof json !== "string") throw new Wrong("an operation takes its name and JSON text");
  }

  // attempt calls a native, which throws its refusals as text.
  function attempt(native, a, b, c) {
    try {
      return native(a, b, c);
    } catch (refusal) {
      throw typeof refusal === "string" ? failure(refusal) : refusal;
    }
  }

  function now(op, json, raw) {
    check(op, json);
    return attempt(hostNow, op, json, raw);
  }

  function later(op, json, raw, key) {
    check(op, json);
    const id = ++last;
    return new Pledge((resolve, reject) => {
      try {
        hostLater(id, op, json, raw, key);
        waiting[id] = { __proto__: null, resolve, reject };
      } catch (refusal) {
        reject(typeof refusal === "string" ? failure(refusal) : refusal);
      }
    });
  }

  function settle(id, good, answer) {
    const request = waiting[id];
    if (!request) return;
    delete waiting[id];
    if (good) request.resolve(answer);
    else request.reject(failure(answer));
  }

  function forget(id) {
    delete waiting[id];
  }

  async function invoke(id, name, text, raw) {
    try {
      const call = global[name];
      if (typeof call !== "function") throw new Wrong(`${name} is not a function`);
      const result = await call(parse(text), raw);
      const bytes = isView(result) || result instanceof Buffer || result instanceof Shared;
      hostFinish(id, true, bytes ? "null" : stringify(result) ?? "null", bytes ? result : undefined);
    } catch (thrown) {
      hostFinish(id, false, describe(thrown));
    }
  }

  // read gets a property as text, whatever the object does about it.
  function read(object, key) {
    try {
      const value = object[key];
      return value === undefined || value === null || typeof value === "object" || typeof value === "function" ? "" : Text(value);
    } catch {
      return "";
    }
  }

  // own gathers what an error carries beside its name, message and stack: at most 32 properties of moderate size.
  function own(thrown, depth) {
    const data = { __proto__: null };
    let names = [];
    try {
      names = keys(thrown);
    } catch {}
    for (let i = 0; i < names.length && i < 32; i++) {
      const key = names[i];
      if (key === "name" || key === "message" || key === "stack") continue;
      try {
        const text = stringify(thrown[key]);
        if (text !== undefined && text.length <= 65536) data[key] = parse(text);
      } catch {}
    }
    try {
      const cause = thrown.cause;
      if (cause !== undefined && cause !== null && depth < 4) data.cause = portray(cause, depth + 1);
    } catch {}
    return data;
  }

  function portray(thrown, depth) {
    if (typeof thrown !== "object" && typeof thrown !== "function" || thrown === null) {
      return { __proto__: null, name: "", message: Text(thrown), stack: "", code: "" };
    }
    const told = {
      __proto__: null,
      name: read(thrown, "name"), message: read(thrown, "message"), stack: read(thrown, "stack"), code: read(thrown, "code"),
      data: own(thrown, depth),
    };
    if (told.message === "" && told.stack === "") {
      try {
        told.message = List(thrown) || told.name === "" ? stringify(thrown) ?? Text(thrown) : "";
      } catch {}
    }
    return told;
  }

  // describe tells in JSON what was thrown. It never throws, but for what no script can catch.
  function describe(thrown) {
    try {
      return stringify(portray(thrown, 0));
    } catch {
      return '{"name":"Error","message":"an error that can not be described"}';
    }
  }

  function install(name, value) {
    defineProperty(global, name, { value, configurable: true, writable: true });
  }
  install("__now", now);
  install("__later", later);
  install("__drop", (key) => { hostDrop(key); });
  install("__text", (bytes, encoding) => attempt(hostText, bytes, encoding));
  install("__bytes", (text, encoding) => attempt(hostBytes, text, encoding));
  return [invoke, settle, forget, describe];
})

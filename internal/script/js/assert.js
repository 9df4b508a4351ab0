// Assertions.
"use strict";
const { wrongType } = require("helve:check");

class AssertionError extends Error {
  constructor({ message, actual, expected, operator, stackStartFn } = {}) {
    super(message ?? `${show(actual)} ${operator} ${show(expected)}`);
    void stackStartFn;
    this.code = "ERR_ASSERTION";
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    this.generatedMessage = message === undefined;
  }
}
Object.defineProperty(AssertionError.prototype, "name", { value: "AssertionError", configurable: true, writable: true });
const show = (value) => require("helve:inspect").inspect(value);

function fail(message, actual, expected, operator, said) {
  if (message instanceof Error) throw message;
  throw Object.assign(new AssertionError({ message: message ?? said, actual, expected, operator }), { generatedMessage: message === undefined });
}

function assert(value, message) {
  if (!value) fail(message, value, true, "==", arguments.length === 0 ? "No value argument passed to `assert.ok()`" : `${show(value)} == true`);
}

const util = () => require("util");
// matches tells whether what was thrown is what was asked for.
function matches(error, wanted) {
  if (wanted === undefined) return true;
  if (wanted instanceof RegExp) return wanted.test(String(error));
  if (typeof wanted === "function") {
    if (wanted.prototype !== undefined && error instanceof wanted) return true;
    if (Error.isPrototypeOf(wanted)) return false;
    return wanted.call({}, error) === true;
  }
  return Object.keys(wanted).every((key) => (wanted[key] instanceof RegExp && typeof error[key] === "string" ? wanted[key].test(error[key]) : util().isDeepStrictEqual(error[key], wanted[key])));
}

function judge(outcome, wanted, message, word) {
  if (typeof wanted === "string") [wanted, message] = [undefined, wanted];
  if (!outcome.failed) {
    const missing = `Missing expected ${word === "rejects" ? "rejection" : "exception"}`;
    fail(message instanceof Error ? message : undefined, undefined, wanted, word, message === undefined ? `${missing}.` : `${missing}: ${message}`);
  }
  if (!matches(outcome.error, wanted)) {
    if (wanted instanceof RegExp) fail(message, outcome.error, wanted, word, `The input did not match the regular expression ${wanted}. Input:\n\n${show(String(outcome.error))}\n`);
    throw outcome.error;
  }
}

const run = (f) => {
  if (typeof f !== "function") throw wrongType("fn", "of type function", f);
  try {
    f();
    return { failed: false };
  } catch (error) {
    return { failed: true, error };
  }
};
const wait = async (promise) => {
  try {
    await (typeof promise === "function" ? promise() : promise);
    return { failed: false };
  } catch (error) {
    return { failed: true, error };
  }
};

Object.assign(assert, {
  ok: (...args) => assert(...args),
  equal(a, b, message) { if (!(a == b || a !== a && b !== b)) fail(message, a, b, "==", `${show(a)} == ${show(b)}`); }, // eslint-disable-line eqeqeq
  notEqual(a, b, message) { if (a == b) fail(message, a, b, "!=", `${show(a)} != ${show(b)}`); }, // eslint-disable-line eqeqeq
  strictEqual(a, b, message) { if (!Object.is(a, b)) fail(typeof message === "string" ? `${message}\n\n${show(a)} !== ${show(b)}\n` : message, a, b, "strictEqual", `Expected values to be strictly equal:\n\n${show(a)} !== ${show(b)}\n`); },
  notStrictEqual(a, b, message) { if (Object.is(a, b)) fail(message, a, b, "notStrictEqual", `Expected "actual" to be strictly unequal to: ${show(b)}`); },
  deepEqual(a, b, message) { if (!util().isDeepEqual(a, b)) fail(message, a, b, "deepEqual", `Expected values to be loosely deep-equal:\n\n${show(a)}\n\nshould loosely deep-equal\n\n${show(b)}`); },
  notDeepEqual(a, b, message) { if (util().isDeepEqual(a, b)) fail(message, a, b, "notDeepEqual", `Expected "actual" not to be loosely deep-equal to: ${show(b)}`); },
  deepStrictEqual(a, b, message) { if (!util().isDeepStrictEqual(a, b)) fail(message, a, b, "deepStrictEqual", `Expected values to be strictly deep-equal:\n${show(a)}\n\nshould equal\n\n${show(b)}`); },
  notDeepStrictEqual(a, b, message) { if (util().isDeepStrictEqual(a, b)) fail(message, a, b, "notDeepStrictEqual", `Expected "actual" not to be strictly deep-equal to: ${show(b)}`); },
  match(text, pattern, message) { if (!pattern.test(text)) fail(message, text, pattern, "match", `The input did not match the regular expression ${pattern}. Input:\n\n${show(text)}\n`); },
  doesNotMatch(text, pattern, message) { if (pattern.test(text)) fail(message, text, pattern, "doesNotMatch", `The input was expected to not match the regular expression ${pattern}. Input:\n\n${show(text)}\n`); },
  throws(f, wanted, message) { judge(run(f), wanted, message, "throws"); },
  async rejects(promise, wanted, message) { judge(await wait(promise), wanted, message, "rejects"); },
  doesNotThrow(f, wanted, message) {
    const { failed, error } = run(f);
    if (failed) fail(typeof wanted === "string" ? wanted : message, error, wanted, "doesNotThrow", `Got unwanted exception.\nActual message: "${error?.message}"`);
  },
  async doesNotReject(promise, wanted, message) {
    const { failed, error } = await wait(promise);
    if (failed) fail(typeof wanted === "string" ? wanted : message, error, wanted, "doesNotReject", `Got unwanted rejection.\nActual message: "${error?.message}"`);
  },
  ifError(value) { if (value != null) throw value instanceof Error ? value : new AssertionError({ message: `ifError got unwanted exception: ${show(value)}`, actual: value, expected: null, operator: "ifError" }); },
  fail(message) { fail(message, undefined, undefined, "fail", "Failed"); },
  AssertionError,
});
assert.strict = Object.assign((...args) => assert(...args), assert, {
  equal: assert.strictEqual, notEqual: assert.notStrictEqual, deepEqual: assert.deepStrictEqual, notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;
module.exports = assert;

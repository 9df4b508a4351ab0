// Numbers, dates and texts in the way of the United States. A few other languages are known by what tools use them for: the order and
// the marks of numbers and of dates in digits.
"use strict";
const host = require("helve:host");

const places = {
  "en-US": { group: ",", point: ".", date: "M/D/Y", hours: 12 },
  "en-GB": { group: ",", point: ".", date: "DD/MM/Y", hours: 24 },
  "en-CA": { group: ",", point: ".", date: "Y-MM-DD", hours: 12, lower: true },
  "sv-SE": { group: "\u00a0", point: ",", date: "Y-MM-DD", hours: 24, between: " " },
  "de-DE": { group: ".", point: ",", date: "D.M.Y", hours: 24 },
};

// localeOf finds the language nearest to those asked for.
function localeOf(asked) {
  for (const tag of asked === undefined ? [] : [asked].flat()) {
    const name = String(tag);
    if (!/^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$/.test(name)) throw new RangeError(`invalid language tag: ${name}`);
    if (name in places) return name;
    const found = Object.keys(places).find((one) => one.split("-")[0] === name.split("-")[0].toLowerCase() && !name.includes("-"));
    if (found) return found;
  }
  return "en-US";
}

// ---- numbers ----

const digitsOf = { USD: 2, EUR: 2, GBP: 2, JPY: 0, KRW: 0, CNY: 2, INR: 2, CHF: 2, CAD: 2, AUD: 2 };
const signs = { USD: "$", EUR: "€", GBP: "£", JPY: "¥", KRW: "₩", CNY: "CN¥", INR: "₹", CAD: "CA$", AUD: "A$", MXN: "MX$", BRL: "R$", NZD: "NZ$", ILS: "₪", VND: "₫" };
const units = {
  byte: ["byte", "byte", "bytes"], kilobyte: ["kB", "kilobyte", "kilobytes"], megabyte: ["MB", "megabyte", "megabytes"], gigabyte: ["GB", "gigabyte", "gigabytes"],
  terabyte: ["TB", "terabyte", "terabytes"], second: ["sec", "second", "seconds"], millisecond: ["ms", "millisecond", "milliseconds"], minute: ["min", "minute", "minutes"],
  hour: ["hr", "hour", "hours"], day: ["day", "day", "days"], kilometer: ["km", "kilometer", "kilometers"], meter: ["m", "meter", "meters"], percent: ["%", "percent", "percent"],
  celsius: ["°C", "degree Celsius", "degrees Celsius"], kilogram: ["kg", "kilogram", "kilograms"],
};

class NumberFormat {
  #o;
  #place;
  constructor(locales, options = {}) {
    const locale = localeOf(locales);
    const style = options.style ?? "decimal";
    if (style === "currency" && options.currency === undefined) throw new TypeError("currency must be a string");
    const currency = style === "currency" ? String(options.currency).toUpperCase() : undefined;
    const compact = options.notation === "compact";
    const usual = style === "currency" ? digitsOf[currency] ?? 2 : 0;
    const range = (name, low, high) => {
      const value = options[name];
      if (value === undefined) return undefined;
      if (!(value >= low && value <= high)) throw new RangeError(`${name} is out of range`);
      return Math.floor(value);
    };
    let min = range("minimumFractionDigits", 0, 100), max = range("maximumFractionDigits", 0, 100);
    const plainMax = style === "currency" ? usual : style === "percent" ? 0 : 3;
    if (min === undefined && max === undefined) [min, max] = [usual, Math.max(usual, plainMax)];
    else if (min === undefined) min = Math.min(usual, max);
    else if (max === undefined) max = Math.max(min, plainMax);
    if (min > max) throw new RangeError("maximumFractionDigits is out of range");
    const significant = options.minimumSignificantDigits !== undefined || options.maximumSignificantDigits !== undefined;
    this.#place = places[locale];
    this.#o = {
      locale, numberingSystem: "latn", style, currency, unit: options.unit, unitDisplay: options.unitDisplay ?? "short", minimumIntegerDigits: range("minimumIntegerDigits", 1, 21) ?? 1,
      minimumFractionDigits: min, maximumFractionDigits: max, minSig: significant ? options.minimumSignificantDigits ?? 1 : undefined, maxSig: significant ? options.maximumSignificantDigits ?? 21 : undefined,
      compact, rounded: compact && options.maximumFractionDigits === undefined && options.minimumFractionDigits === undefined && !significant,
      useGrouping: options.useGrouping ?? (compact ? "min2" : "auto"), notation: options.notation ?? "standard", compactDisplay: options.compactDisplay ?? "short", signDisplay: options.signDisplay ?? "auto",
      currencyDisplay: options.currencyDisplay ?? "symbol",
    };
    this.format = this.format.bind(this);
  }
  // digits writes a number that is not negative.
  #digits(value) {
    const o = this.#o;
    let text;
    if (typeof value === "bigint") text = String(value) + (o.minimumFractionDigits > 0 ? `.${"0".repeat(o.minimumFractionDigits)}` : "");
    else if (o.maxSig !== undefined) {
      text = plainDigits(Number(value.toPrecision(Math.min(o.maxSig, 100))));
      const have = text.replace(".", "").replace(/^0+/, "").length || 1;
      if (have < o.minSig) text += (text.includes(".") ? "" : ".") + "0".repeat(o.minSig - have);
    } else if (o.rounded) text = value < 100 && !Number.isInteger(value) ? plainDigits(Number(value.toPrecision(2))) : plainDigits(Math.round(value));
    else {
      text = rounded(plainDigits(value), o.maximumFractionDigits);
      if (text.includes(".")) {
        let end = text.length;
        const least = text.indexOf(".") + 1 + o.minimumFractionDigits;
        while (end > least && text[end - 1] === "0") end--;
        text = text.slice(0, end).replace(/\.$/, "");
      }
    }
    let [whole, rest] = text.split(".");
    whole = whole.padStart(o.minimumIntegerDigits, "0");
    const grouped = o.useGrouping !== false && o.useGrouping !== "false" && (o.useGrouping !== "min2" || whole.length > 4);
    if (grouped) whole = whole.replace(/\B(?=(\d{3})+$)/g, this.#place.group);
    return rest === undefined ? whole : whole + this.#place.point + rest;
  }
  format(input) {
    const o = this.#o;
    let value = typeof input === "bigint" ? input : Number(input);
    const negative = value < 0 || Object.is(value, -0);
    if (negative) value = -value;
    if (o.style === "percent") value = typeof value === "bigint" ? value * 100n : Number(`${value}e2`) || value * 100;
    let suffix = "";
    if (o.compact && value >= 1000) {
      const names = o.compactDisplay === "long" ? [" thousand", " million", " billion", " trillion"] : ["K", "M", "B", "T"];
      let step = 0;
      let small = Number(value);
      while (step < 4 && Math.round(small) >= 1000) {
        small /= 1000;
        step++;
      }
      value = small;
      suffix = step > 0 ? names[step - 1] : "";
    }
    let text = Number.isNaN(value) ? "NaN" : value === Infinity ? "∞" : this.#digits(value);
    text += suffix;
    if (o.style === "percent") text += this.#place.point === "," ? "\u00a0%" : "%";
    if (o.style === "currency") {
      const sign = o.currencyDisplay === "code" ? `${o.currency}\u00a0` : o.currencyDisplay === "name" ? "" : signs[o.currency] ?? `${o.currency}\u00a0`;
      text = o.currencyDisplay === "name" ? `${text} ${o.currency}` : this.#place.point === "," ? `${text}\u00a0${sign.trim()}` : sign + text;
    }
    if (o.style === "unit") {
      const [short, one, many] = units[o.unit] ?? [o.unit, o.unit, o.unit];
      const word = o.unitDisplay === "long" ? (text === "1" ? one : many) : o.unitDisplay === "narrow" ? short : short === "day" && text !== "1" ? "days" : short;
      text += o.unitDisplay === "narrow" && short.length < 3 || short === "%" || short.startsWith("°") ? word : ` ${word}`;
    }
    const zero = typeof value === "number" ? !(Number(this.#digits(0) === text ? 0 : 1)) : value === 0n;
    const minus = negative && o.signDisplay !== "never" && !(zero && (o.signDisplay === "negative" || o.signDisplay === "exceptZero"));
    const plus = !negative && (o.signDisplay === "always" || o.signDisplay === "exceptZero" && !zero);
    return (minus ? "-" : plus ? "+" : "") + text;
  }
  formatToParts(value) { return [{ type: "literal", value: this.format(value) }]; }
  formatRange(a, b) { return `${this.format(a)}–${this.format(b)}`; }
  resolvedOptions() {
    const { minSig, maxSig, rounded, compact, ...shown } = this.#o;
    for (const key of Object.keys(shown)) if (shown[key] === undefined) delete shown[key];
    return shown;
  }
  static supportedLocalesOf(asked) { return [asked].flat().filter((one) => one in places); }
}

// rounded cuts digits in decimal, as a person would: 1.005 to two places is 1.01.
function rounded(text, places) {
  const [whole, rest = ""] = text.split(".");
  if (rest.length <= places) return places === 0 ? text : `${whole}.${rest.padEnd(places, "0")}`;
  let digits = BigInt(whole + rest.slice(0, places));
  if (rest[places] >= "5") digits++;
  const all = String(digits).padStart(places + 1, "0");
  return places === 0 ? all : `${all.slice(0, -places)}.${all.slice(-places)}`;
}

// plainDigits writes a number without an exponent.
function plainDigits(n) {
  const text = String(n);
  const m = /^(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!m) return text;
  const digits = m[1] + (m[2] ?? ""), power = Number(m[3]);
  return power < 0 ? `0.${"0".repeat(-power - 1)}${digits}` : digits.padEnd(power + 1, "0");
}

// ---- dates ----

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

// zoneName is what the text of a date calls the time zone at a time.
function zoneName(ms) {
  let name;
  try {
    ({ name } = zoneAt(host.info().timezone ?? "UTC", ms));
  } catch {} // a zone the host does not know
  return name === undefined || name === "UTC" ? "Coordinated Universal Time" : name;
}

// zoneAt tells how far a time zone is from UTC at a time, and what it is called then.
function zoneAt(zone, ms) {
  if (zone === undefined) {
    const minutes = -new Date(ms).getTimezoneOffset();
    return { minutes, name: minutes === 0 ? "UTC" : offsetName(minutes) };
  }
  if (/^(utc|gmt|etc\/utc|etc\/gmt)$/i.test(zone)) return { minutes: 0, name: "UTC" };
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (fixed) {
    const minutes = (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3]));
    return { minutes, name: offsetName(minutes) };
  }
  return host.now("time.zone", { zone, ms }).value;
}
function offsetName(minutes) {
  const size = Math.abs(minutes);
  return `GMT${minutes < 0 ? "-" : "+"}${Math.floor(size / 60)}${size % 60 === 0 ? "" : `:${String(size % 60).padStart(2, "0")}`}`;
}

const styleParts = {
  date: {
    full: { weekday: "long", month: "long", day: "numeric", year: "numeric" }, long: { month: "long", day: "numeric", year: "numeric" },
    medium: { month: "short", day: "numeric", year: "numeric" }, short: { month: "numeric", day: "numeric", year: "2-digit" },
  },
  time: {
    full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" }, long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
    medium: { hour: "numeric", minute: "2-digit", second: "2-digit" }, short: { hour: "numeric", minute: "2-digit" },
  },
};
const datePart = ["weekday", "year", "month", "day", "era"], timePart = ["hour", "minute", "second", "dayPeriod", "fractionalSecondDigits"];

class DateTimeFormat {
  #o;
  #place;
  #locale;
  constructor(locales, options = {}, usual = "date") {
    this.#locale = localeOf(locales);
    this.#place = places[this.#locale];
    const o = { ...options };
    if (o.dateStyle || o.timeStyle) Object.assign(o, styleParts.date[o.dateStyle], styleParts.time[o.timeStyle]);
    const asksDate = datePart.some((name) => o[name] !== undefined), asksTime = timePart.some((name) => o[name] !== undefined);
    const wantsDate = usual === "date" || usual === "both", wantsTime = usual === "time" || usual === "both";
    const bare = usual === "both" ? !asksDate && !asksTime : usual === "time" ? !asksTime && !(asksDate && false) : !asksDate && !asksTime;
    if (bare && wantsDate) Object.assign(o, { year: "numeric", month: "numeric", day: "numeric" });
    if (bare && wantsTime) Object.assign(o, { hour: "numeric", minute: "2-digit", second: "2-digit" });
    if (usual === "dateOnly" && !asksDate) Object.assign(o, { year: "numeric", month: "numeric", day: "numeric" });
    if (o.timeZone !== undefined) {
      try {
        zoneAt(o.timeZone, 0);
      } catch {
        throw new RangeError(`invalid time zone: ${o.timeZone}`);
      }
    }
    o.hour12 ??= o.hourCycle ? /^h1[12]$/.test(o.hourCycle) : this.#place.hours === 12;
    this.#o = o;
    this.format = this.format.bind(this);
  }
  #fields(input) {
    const ms = input === undefined ? Date.now() : Number(input);
    if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) throw new RangeError("date value is not finite in DateTimeFormat format()");
    const zone = zoneAt(this.#o.timeZone, ms);
    const at = new Date(ms + zone.minutes * 60000);
    return { at, zone, year: at.getUTCFullYear(), month: at.getUTCMonth(), day: at.getUTCDate(), weekday: at.getUTCDay(), hour: at.getUTCHours(), minute: at.getUTCMinutes(), second: at.getUTCSeconds(), ms: at.getUTCMilliseconds() };
  }
  #part(f, name) {
    const o = this.#o;
    const two = (n) => String(n).padStart(2, "0");
    switch (name) {
      case "year": return o.year === "2-digit" ? two(f.year % 100) : String(f.year);
      case "month": return { numeric: String(f.month + 1), "2-digit": two(f.month + 1), short: months[f.month].slice(0, 3), long: months[f.month], narrow: months[f.month][0] }[o.month];
      case "day": return o.day === "2-digit" ? two(f.day) : String(f.day);
      case "weekday": return { short: days[f.weekday].slice(0, 3), long: days[f.weekday], narrow: days[f.weekday][0] }[o.weekday];
      case "hour": {
        const hour = o.hour12 ? f.hour % 12 || 12 : o.hourCycle === "h24" && f.hour === 0 || o.hour12 === false && o.hourCycle === undefined && this.#locale === "en-US" && f.hour === 0 ? 24 : f.hour;
        return o.hour === "2-digit" || !o.hour12 ? two(hour) : String(hour);
      }
      case "minute": return o.hour !== undefined || o.second !== undefined || o.minute === "2-digit" && o.hour !== undefined ? two(f.minute) : String(f.minute);
      case "second": {
        const digits = o.fractionalSecondDigits;
        const text = o.minute !== undefined ? two(f.second) : String(f.second);
        return digits ? `${text}.${String(f.ms).padStart(3, "0").slice(0, digits)}` : text;
      }
    }
    return "";
  }
  #date(f) {
    const o = this.#o, has = (name) => o[name] !== undefined;
    if (!datePart.some(has)) return "";
    const p = (name) => this.#part(f, name);
    const inWords = has("month") && !["numeric", "2-digit"].includes(o.month);
    if (inWords) {
      const british = this.#place.date.startsWith("D");
      const core = british ? [has("day") && p("day"), p("month"), has("year") && p("year")].filter(Boolean).join(" ")
        : [[p("month"), has("day") && p("day")].filter(Boolean).join(" "), has("year") && p("year")].filter(Boolean).join(has("day") ? ", " : " ");
      return [has("weekday") && p("weekday"), core].filter(Boolean).join(british && o.weekday === "long" ? " " : ", ");
    }
    const pattern = this.#place.date;
    const marked = /[/.-]/.exec(pattern)[0];
    const core = pattern.split(marked).map((piece) => {
      const name = { M: "month", D: "day", Y: "year" }[piece[0]];
      if (!has(name)) return undefined;
      const text = p(name);
      return piece.length === 2 && (has("month") && has("day")) ? text.padStart(2, "0") : text;
    }).filter((piece) => piece !== undefined).join(marked);
    return [has("weekday") && p("weekday"), core].filter(Boolean).join(", ");
  }
  #time(f) {
    const o = this.#o;
    if (!timePart.some((name) => o[name] !== undefined)) return "";
    let text = ["hour", "minute", "second"].filter((name) => o[name] !== undefined || name === "second" && o.fractionalSecondDigits !== undefined).map((name) => this.#part(f, name)).join(":");
    if (o.hour !== undefined && o.hour12) text += this.#place.lower ? (f.hour < 12 ? " a.m." : " p.m.") : f.hour < 12 ? " AM" : " PM";
    return text;
  }
  format(input) {
    const f = this.#fields(input), o = this.#o;
    const date = this.#date(f), time = this.#time(f);
    const long = o.dateStyle === "full" || o.dateStyle === "long" || o.month === "long" && o.dateStyle === undefined && false;
    let text = date && time ? `${date}${long ? " at " : this.#place.between ?? ", "}${time}` : date + time;
    if (o.timeZoneName !== undefined) text += `${text === "" ? "" : time ? " " : ", "}${o.timeZoneName === "long" && f.zone.name === "UTC" ? "Coordinated Universal Time" : f.zone.name}`;
    return text;
  }
  formatToParts(input) {
    const f = this.#fields(input), o = this.#o;
    const parts = [];
    let rest = this.format(input);
    const names = this.#place.date.startsWith("D") ? ["weekday", "day", "month", "year"] : this.#place.date.startsWith("Y") ? ["weekday", "year", "month", "day"] : ["weekday", "month", "day", "year"];
    for (const name of [...names, "hour", "minute", "second"]) {
      if (o[name] === undefined) continue;
      const text = this.#part(f, name);
      const padded = rest.indexOf(text.padStart(2, "0")) === 0 || name !== "weekday" && !rest.startsWith(text) && rest.indexOf(text.padStart(2, "0")) >= 0 && rest.indexOf(text.padStart(2, "0")) <= rest.indexOf(text) ? text.padStart(2, "0") : text;
      const at = rest.indexOf(padded);
      if (at > 0) parts.push({ type: "literal", value: rest.slice(0, at) });
      parts.push({ type: name, value: padded });
      rest = rest.slice(at + padded.length);
    }
    const period = /^(\s)([AP]M|[ap]\.m\.)/.exec(rest);
    if (period) {
      parts.push({ type: "literal", value: period[1] }, { type: "dayPeriod", value: period[2] });
      rest = rest.slice(period[0].length);
    }
    if (rest !== "") {
      if (o.timeZoneName !== undefined) parts.push({ type: "literal", value: " " }, { type: "timeZoneName", value: rest.trim() });
      else parts.push({ type: "literal", value: rest });
    }
    return parts;
  }
  formatRange(a, b) { return `${this.format(a)} – ${this.format(b)}`; }
  resolvedOptions() {
    const { year, month, day, weekday, hour, minute, second, dateStyle, timeStyle } = this.#o;
    const all = { locale: this.#locale, calendar: "gregory", numberingSystem: "latn", timeZone: this.#o.timeZone ?? host.info().timezone ?? "UTC", weekday, year, month, day, hour, minute, second, dateStyle, timeStyle };
    for (const key of Object.keys(all)) if (all[key] === undefined) delete all[key];
    return all;
  }
  static supportedLocalesOf(asked) { return [asked].flat().filter((one) => one in places); }
}

// ---- order of texts ----

// Marks come before digits, digits before letters.
const marks = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$";
function rank(c) {
  if (/\s/.test(c)) return c.codePointAt(0);
  const at = marks.indexOf(c);
  if (at >= 0) return 0x200 + at;
  const code = c.codePointAt(0);
  if (code >= 48 && code <= 57) return 0x400 + code;
  return /\p{L}/u.test(c) ? 0x1000 + code : 0x300 + (code & 0xff);
}

function compareBase(a, b, numeric) {
  const split = (text) => (numeric ? text.match(/\d+|\D/gsu) ?? [] : Array.from(text));
  const x = split(a), y = split(b);
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (numeric && /^\d/.test(x[i]) && /^\d/.test(y[i])) {
      const m = BigInt(x[i]), n = BigInt(y[i]);
      if (m !== n) return m < n ? -1 : 1;
    } else if (x[i] !== y[i]) return rank(x[i]) - rank(y[i]) < 0 ? -1 : 1;
  }
  return Math.sign(x.length - y.length);
}

const bare = (text) => (/[^\0-\x7f]/.test(text) ? text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ß", "ss").replaceAll("æ", "ae").replaceAll("ø", "o") : text);

// plainRanks is the order of plain letters, small and large alike.
let plainRanks;
function ranks() {
  return (plainRanks ??= Uint16Array.from({ length: 128 }, (_, code) => rank(String.fromCharCode(code).toLowerCase())));
}

// keyOf is a text of plain letters in a form that compares as it sorts; null if it has others. Sorting asks for the same often.
const keys = new Map();
function keyOf(text) {
  let key = keys.get(text);
  if (key !== undefined) return key;
  if (keys.size >= 20000) keys.clear();
  const order = ranks();
  key = text.length > 200 || /[^\0-\x7f]/.test(text) ? null : String.fromCharCode(...Array.from(text, (c) => order[c.charCodeAt(0)]));
  keys.set(text, key);
  return key;
}

// comparePlain compares texts of plain letters; undefined if there are others.
function comparePlain(a, b) {
  const x = keyOf(a), y = keyOf(b);
  if (x === null || y === null) return undefined;
  if (x !== y) return x < y ? -1 : 1;
  let at = 0;
  while (a[at] === b[at]) at++;
  return a[at] > b[at] ? -1 : 1; // small letters first
}

const usualOrder = {};
function compareTexts(a, b, options = usualOrder) {
  if (a === b) return 0;
  if (options === usualOrder) {
    const plain = comparePlain(a, b);
    if (plain !== undefined) return plain;
  }
  const { sensitivity = "variant", numeric = false, caseFirst = "false", ignorePunctuation = false } = options;
  const keep = ignorePunctuation ? (text) => text.replace(/[\p{P}\s]/gu, "") : (text) => text;
  const x = keep(a), y = keep(b);
  const base = compareBase(bare(x).toLowerCase(), bare(y).toLowerCase(), numeric);
  if (base !== 0 || sensitivity === "base") return base;
  if (sensitivity !== "case") {
    const p = x.normalize("NFD").toLowerCase(), q = y.normalize("NFD").toLowerCase();
    if (p !== q) return p < q ? -1 : 1;
    if (sensitivity === "accent") return 0;
  }
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] !== y[i]) return (x[i] === x[i].toLowerCase() ? -1 : 1) * (caseFirst === "upper" ? -1 : 1);
  }
  return 0;
}

class Collator {
  #o;
  constructor(locales, options = {}) {
    this.#o = { locale: localeOf(locales), usage: "sort", sensitivity: "variant", ignorePunctuation: false, collation: "default", numeric: false, caseFirst: "false", ...options };
    const plain = Object.keys(options).every((name) => name === "usage");
    this.compare = (a, b) => compareTexts(String(a), String(b), plain ? undefined : this.#o);
  }
  resolvedOptions() { return { ...this.#o }; }
  static supportedLocalesOf(asked) { return [asked].flat().filter((one) => one in places); }
}

// ---- words ----

class PluralRules {
  #ordinal;
  constructor(locales, options = {}) { this.#ordinal = options.type === "ordinal"; }
  select(n) {
    if (!this.#ordinal) return n === 1 ? "one" : "other";
    const ten = n % 10, hundred = n % 100;
    return ten === 1 && hundred !== 11 ? "one" : ten === 2 && hundred !== 12 ? "two" : ten === 3 && hundred !== 13 ? "few" : "other";
  }
  resolvedOptions() { return { locale: "en-US", type: this.#ordinal ? "ordinal" : "cardinal", pluralCategories: this.#ordinal ? ["few", "one", "two", "other"] : ["one", "other"] }; }
}

class ListFormat {
  #o;
  constructor(locales, options = {}) { this.#o = { type: "conjunction", style: "long", ...options }; }
  format(list) {
    const all = [...list];
    const word = this.#o.type === "disjunction" ? "or" : this.#o.type === "unit" ? "" : this.#o.style === "long" ? "and" : "&";
    if (all.length < 2) return all.join("");
    if (this.#o.type === "unit") return all.join(", ");
    if (all.length === 2) return `${all[0]} ${word} ${all[1]}`;
    return `${all.slice(0, -1).join(", ")}, ${word} ${all.at(-1)}`;
  }
}

class RelativeTimeFormat {
  #auto;
  constructor(locales, options = {}) { this.#auto = options.numeric === "auto"; }
  format(value, unit) {
    const name = String(unit).replace(/s$/, "");
    if (this.#auto) {
      const said = { day: { "-1": "yesterday", 0: "today", 1: "tomorrow" } }[name]?.[value] ?? (name === "second" && value === 0 ? "now" : name === "hour" || name === "minute" ? (value === 0 ? `this ${name}` : undefined) : { "-1": `last ${name}`, 0: `this ${name}`, 1: `next ${name}` }[value]);
      if (said !== undefined) return said;
    }
    const size = Math.abs(value);
    const text = `${new NumberFormat().format(size)} ${name}${size === 1 ? "" : "s"}`;
    return value < 0 || Object.is(value, -0) ? `${text} ago` : `in ${text}`;
  }
}

class Segmenter {
  #kind;
  constructor(locales, options = {}) { this.#kind = options.granularity ?? "grapheme"; }
  segment(input) {
    const text = String(input);
    const pattern = this.#kind === "word" ? /[\p{L}\p{N}_'’]+|[^\p{L}\p{N}_'’]/gu : this.#kind === "sentence" ? /[^.!?]+[.!?]*\s*|[.!?]+\s*/gu
      : /\r\n|\p{RI}\p{RI}|.\p{M}*(?:\p{EMod}|\ufe0f)?(?:\u200d.\p{M}*(?:\p{EMod}|\ufe0f)?)*/gsu;
    const kind = this.#kind;
    return {
      *[Symbol.iterator]() {
        for (const m of text.matchAll(pattern)) yield kind === "word" ? { segment: m[0], index: m.index, input: text, isWordLike: /[\p{L}\p{N}]/u.test(m[0]) } : { segment: m[0], index: m.index, input: text };
      },
    };
  }
}

// callable lets a class be called without new, as these may be.
const callable = (Type) => new Proxy(Type, { apply: (target, self, args) => new target(...args) });
const Intl = {
  NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), Collator: callable(Collator), PluralRules, ListFormat, RelativeTimeFormat, Segmenter,
  getCanonicalLocales: (asked) => (asked === undefined ? [] : [asked].flat().map(String)),
  supportedValuesOf: () => [],
};
Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: true });

const shown = (usual) => (date, locales, options) => (isNaN(date) ? "Invalid Date" : new DateTimeFormat(locales, options, usual).format(date));
module.exports = {
  Intl,
  Number: { toLocaleString: (n, locales, options) => new NumberFormat(locales, options).format(Number(n)) },
  BigInt: { toLocaleString: (n, locales, options) => new NumberFormat(locales, options).format(BigInt(n)) },
  compareTexts, zoneName,
  Date: { toLocaleString: shown("both"), toLocaleDateString: shown("dateOnly"), toLocaleTimeString: shown("time") },
};

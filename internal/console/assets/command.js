// A call as a text for a shell.

/** Quotes a word for sh: inside of single quotes nothing means anything. */
export function quote(word) {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// What a terminal would not show, or show elsewhere, is written as JSON escapes.
const UNSEEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

/** JSON in one line of which every character can be seen. */
export function plainJSON(value) {
  return JSON.stringify(value).replace(UNSEEN, (c) => [...Array(c.length).keys()].map((i) => '\\u' + c.charCodeAt(i).toString(16).padStart(4, '0')).join(''));
}

const USUAL = '~/.local/share/helve/serve-token'; // where the token is kept, unless somebody has said otherwise

/** The call with curl. The token is read from its file when the text is run. */
export function asCurl({ tool, input, session, agent }, origin, tokenFile) {
  const body = { tool, input, ...(session && { session }), ...(agent && { agent }) };
  return [
    `curl -sS ${quote(origin + '/v1/calls')}`,
    `  -H "Authorization: Bearer $(cat ${tokenFile ? quote(tokenFile) : USUAL})"`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quote(plainJSON(body))}`,
  ].join(' \\\n');
}

/** The call with the command line. */
export function asHelve({ tool, input, session, agent }) {
  return ['helve call', session && `--session ${quote(session)}`, agent && `--agent ${quote(agent)}`, quote(tool), quote(plainJSON(input))].filter(Boolean).join(' ');
}

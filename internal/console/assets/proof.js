// Whether the server at this address is ours. It may have gone, and whoever
// listens there now is not to be told the token: so a server shows first that it
// knows it, by a proof that is good for this address alone.

let proved = false;
let asking = null;

/** From now on it is not known who answers. */
export function doubt() {
  proved = false;
}

const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, '0')).join('');

/** The proof that a server which knows the token gives. */
export async function proofOf(token, host, nonce) {
  const utf8 = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', utf8.encode(token), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', key, utf8.encode(`helve\n${host}\n${nonce}`)));
}

async function ask(token) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(24)));
  const response = await fetch(`/v1/proof?nonce=${nonce}`, { cache: 'no-store', credentials: 'omit', redirect: 'error' });
  if (!response.ok) throw new TypeError('no proof');
  const { proof } = await response.json();
  if (proof !== (await proofOf(token, location.host, nonce))) throw new Unknown();
  proved = true;
}

/** The server here does not know the token: it has another one, or is another program. */
export class Unknown extends Error {}

/**
 * Throws unless the server has shown that it knows the token: Unknown, or what
 * fetch throws where nobody answers. Pages that came over a network in the
 * clear can not tell: browsers give them no cryptography.
 */
export async function known(token) {
  if (proved || !token || !globalThis.crypto || !crypto.subtle) return;
  asking = asking || ask(token).finally(() => (asking = null));
  await asking;
}

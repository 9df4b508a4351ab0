// The hash that Bun.hash gives: Wyhash, in numbers of 64 bits.
"use strict";
const mask = 0xffffffffffffffffn;
const secret = [0xa0761d6478bd642fn, 0xe7037ed1a0b428dbn, 0x8ebc6af09c88c6e3n, 0x589965cc75374cc3n];

function mix(a, b) {
  const product = a * b;
  return (product & mask) ^ (product >> 64n);
}

function wyhash(bytes, seed = 0n) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = bytes.length;
  const word = (at) => view.getBigUint64(at, true);
  const half = (at) => BigInt(view.getUint32(at, true));
  const state = Array(3).fill((seed ^ mix(seed ^ secret[0], secret[1])) & mask);
  let a = 0n, b = 0n;
  if (size <= 16) {
    if (size >= 4) {
      const end = size - 4, quarter = (size >> 3) << 2;
      a = half(0) << 32n | half(quarter);
      b = half(end) << 32n | half(end - quarter);
    } else if (size > 0) {
      a = BigInt(bytes[0] << 16 | bytes[size >> 1] << 8 | bytes[size - 1]);
    }
  } else {
    let at = 0;
    if (size >= 48) {
      for (; at + 48 < size; at += 48) {
        for (let i = 0; i < 3; i++) state[i] = mix(word(at + 16 * i) ^ secret[i + 1], word(at + 16 * i + 8) ^ state[i]);
      }
      state[0] ^= state[1] ^ state[2];
    }
    for (; at + 16 < size; at += 16) state[0] = mix(word(at) ^ secret[1], word(at + 8) ^ state[0]);
    a = word(size - 16);
    b = word(size - 8);
  }
  const product = (a ^ secret[1]) * (b ^ state[0]);
  return mix((product & mask) ^ secret[0] ^ BigInt(size), (product >> 64n) ^ secret[1]);
}

module.exports = { wyhash };

/** Base64url without padding (RFC 7515 section 2). */

const ALPHABET = /^[A-Za-z0-9_-]*$/

/** The bytes, or null where another text would mean the same bytes, or none. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  // A last group of one character holds no byte.
  if (!ALPHABET.test(text) || text.length % 4 === 1) {
    return null
  }
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return toBase64url(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null
}

function toBase64url(binary: string): string {
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

import { parseKey } from 'sshpk';

/**
 * Reads the public key in a form (specification: PUT /vm/create, `ssh_key`, "URL-encoded public key"). The value may be URL-encoded a
 * second time within the form.
 *
 * @returns The key in OpenSSH notation. Undefined if the value is not a public key in that notation.
 */
export function publicKeyOf(value: string): string | undefined {
  const text = decoded(value).trim();
  // The library also reads PEM files, including private keys, so only the one-line notation may reach it.
  if (!/^[a-z0-9-]+ [A-Za-z0-9+/]+={0,2}(?: \P{Cc}*)?$/u.test(text)) return undefined;
  try {
    return parseKey(text, 'ssh').toString('ssh');
  } catch {
    return undefined;
  }
}

/** The character after the key type shows the encoding: none, `%20` for spaces, or `+` for spaces. */
function decoded(value: string): string {
  const [, space] = /^[a-z0-9-]+( |%20|\+)/.exec(value) ?? [];
  if (space !== '%20' && space !== '+') return value;
  const text = space === '+' ? value.replaceAll('+', ' ') : value;
  // decodeURIComponent would throw on a comment that is not UTF-8.
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

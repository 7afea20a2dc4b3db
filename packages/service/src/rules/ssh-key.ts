import { parseKey } from 'sshpk';

/**
 * The public key that a form carries (specification: PUT /vm/create, `ssh_key`, "URL-encoded public key").
 * A value that is URL-encoded within the form and one that is not are both read.
 *
 * @returns The key in OpenSSH notation, or undefined when the value is no public key in that notation.
 */
export function publicKeyOf(value: string): string | undefined {
  const text = decoded(value).trim();
  // Only the one-line OpenSSH notation: the library also reads PEM files, private ones among them.
  if (!/^[a-z0-9-]+ [A-Za-z0-9+/]+={0,2}(?: \P{Cc}*)?$/u.test(text)) return undefined;
  try {
    return parseKey(text, 'ssh').toString('ssh');
  } catch {
    return undefined;
  }
}

/** What stands after the type of the key tells how the value is encoded: not at all, with spaces as `%20`, or with spaces as `+`. */
function decoded(value: string): string {
  const [, space] = /^[a-z0-9-]+( |%20|\+)/.exec(value) ?? [];
  if (space !== '%20' && space !== '+') return value;
  const text = space === '+' ? value.replaceAll('+', ' ') : value;
  // Not decodeURIComponent, which throws at a comment that is not UTF-8.
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

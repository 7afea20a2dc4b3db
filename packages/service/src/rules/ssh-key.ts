import { parseKey } from 'sshpk';

/**
 * The public key that a form carries (specification: PUT /vm/create, `ssh_key`, "URL-encoded public key").
 * A value that is URL-encoded within the form and one that is not are both read.
 *
 * @returns The key in OpenSSH notation, or undefined when the value is no public key in that notation.
 */
export function publicKeyOf(value: string): string | undefined {
  const text = decoded(value);
  // Only the one-line OpenSSH notation: the library also reads PEM files, private ones among them.
  if (text === undefined || !/^[a-z0-9@.-]+ [A-Za-z0-9+/]+={0,2}(?: [^\r\n]*)?$/.test(text)) return undefined;
  try {
    return parseKey(text, 'ssh').toString('ssh');
  } catch {
    return undefined;
  }
}

function decoded(value: string): string | undefined {
  if (!value.includes('%')) return value.trim();
  try {
    return decodeURIComponent(value).trim();
  } catch {
    return undefined;
  }
}

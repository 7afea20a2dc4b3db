/** The answers of a name server as `dig` shows them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

/** Why tests cannot ask by `dig`. Undefined if they can. */
export const noDig = existsSync('/usr/bin/dig') ? undefined : 'dig is not installed';

/** The lines of `dig +short`, or of other options: hexadecimal data in one lower-case word, and names without their final dots. */
export async function dig(port: number, name: string, type: string, ...options: readonly string[]): Promise<string[]> {
  const given = ['@127.0.0.1', '-p', String(port), name, type, '+short', '+nosplit', ...options];
  const { stdout } = await promisify(execFile)('/usr/bin/dig', given, { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    if (type === 'TLSA' || type === 'SSHFP') return line.toLowerCase();
    // A dig of 2024 does not know the name of this parameter of SVCB records.
    const words = line.split(' ').map((word) => word.replace(/^(mandatory=.*|)key7\b/, '$1dohpath'));
    return words.map((word) => (/^[^"].*\.$/.test(word) ? word.slice(0, -1) : word)).join(' ');
  });
}

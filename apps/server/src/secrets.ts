import { readFileSync } from 'node:fs';

import { isError } from '@reseller/contract/is-error';

/** Environment variables, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A secret that cannot be read. The message is one line. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

/**
 * A secret from its variable, or from the file that the variable with the suffix _FILE names. Files suit credentials of systemd and secrets
 * of containers. Unlike variables, other processes cannot read them from the environment.
 *
 * @throws SecretError if both are set, or the file cannot be read or is empty.
 */
export function secretOf(environment: Environment, name: string): string | undefined {
  const value = environment[name] || undefined;
  const file = environment[`${name}_FILE`] || undefined;
  if (file === undefined) return value;
  if (value !== undefined) throw new SecretError(`Both ${name} and ${name}_FILE are set. Set only one of them.`);
  const content = contentOf(file, name);
  if (content === '') throw new SecretError(`${name}_FILE names the file ${file}, which is empty. Write the value into it.`);
  return content;
}

function contentOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = isError(error) && 'code' in error ? String(error.code) : String(error);
    throw new SecretError(`${name}_FILE names the file ${file}, which cannot be read (${reason}). Make it readable for the service.`, {
      cause: error,
    });
  }
}

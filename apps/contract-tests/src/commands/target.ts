import { valueAt } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { CannotRunError } from '../cannot-run.ts';
import { readAddress } from '../options.ts';
import type { Arguments } from '../options.ts';

/**
 * The service that a run calls. A document of the user belongs to a service of the user: it is never sent to the sandbox of this machine by default.
 * @throws {CannotRunError} when the user has to name it
 */
export function targetFor({ document: file, hasTarget, mode, plan, target }: Arguments, document: OpenApiDocument): URL {
  if (file === undefined || hasTarget) return target;
  const server = firstServer(document);
  if (server !== undefined && (plan || mode === 'read-only')) return readAddress(server, 'first server of the document');
  if (plan) return target;
  const why =
    server === undefined
      ? 'The document names no server with a whole address.'
      : `A run in full mode changes things, so it does not take the server of the document (${server}).`;
  throw new CannotRunError(`${why} Give the address of the service as --target, such as --target https://api.example.com.`);
}

/** The address of the first server, with the defaults of its variables; undefined without one that is whole. */
function firstServer(document: OpenApiDocument): string | undefined {
  const url = valueAt(document, '/servers/0/url');
  if (typeof url !== 'string') return undefined;
  const filled = url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const value = valueAt(document, `/servers/0/variables/${name}/default`);
    return typeof value === 'string' ? value : whole;
  });
  return /^https?:\/\/[^{}]+$/.test(filled) ? filled : undefined;
}

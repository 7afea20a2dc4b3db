import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { errorText } from '@reseller/contract';
import type { Check, Extension, Send } from '@reseller/contract/engine';

import { CannotRunError } from './cannot-run.ts';

/** The exports of a module of the user. All of them are optional. */
export interface Hooks {
  /** Called before each request, after the guard; may return another request, such as one with a signature. */
  readonly beforeRequest?: (request: Request) => Request | undefined | Promise<Request | undefined>;
  /** Called with a copy of each response. */
  readonly afterResponse?: (response: Response, request: Request) => unknown;
  readonly checks?: readonly Check[];
}

const NAMES = ['beforeRequest', 'afterResponse', 'checks'] as const;

/**
 * Loads a module of the user.
 * @throws {CannotRunError} when it cannot be loaded, or exports none of the parts
 */
export async function loadHooks(file: string): Promise<Hooks> {
  let module: Hooks;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new CannotRunError(`The hooks ${file} cannot be loaded: ${errorText(error)}`, {
      cause: error,
    });
  }
  if (NAMES.every((name) => module[name] === undefined)) throw new CannotRunError(`The hooks ${file} export none of ${NAMES.join(', ')}.`);
  return module;
}

/** Sends requests through the hooks. A hook may change headers; another address, method or redirect would bypass the guard. */
export function sendWith({ beforeRequest, afterResponse }: Hooks): Send {
  return async (given) => {
    const changed = (await beforeRequest?.(given.clone())) ?? given;
    if (changed.url !== given.url || changed.method !== given.method)
      throw new CannotRunError(
        `The hook beforeRequest changed ${given.method} ${given.url} to another address or method. It may only change headers and body.`,
      );
    const request = changed.redirect === 'manual' ? changed : new Request(changed, { redirect: 'manual' });
    const response = await fetch(request);
    await afterResponse?.(response.clone(), request);
    return response;
  };
}

export function checksOf({ checks = [] }: Hooks): readonly Extension[] {
  return checks.length === 0 ? [] : [{ checks, steps: () => [], onExchange: async () => {} }];
}

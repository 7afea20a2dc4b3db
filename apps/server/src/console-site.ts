/**
 * The built console: its folder, and the requests that a browser may send for its page. The server does not depend on the package of the
 * console, because a first start would install the packages with which the console is built.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Next to the code of a packed server, or else in the repository. */
const FOLDERS = ['../console-dist/', '../../console/console-dist/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

export const consoleDirectory = FOLDERS.find((folder) => existsSync(folder)) ?? FOLDERS.at(-1) ?? '';

/**
 * The Content-Security-Policy of the console. No script and no style is inline, and no request goes to another host. `connect-src` is added by
 * the service, because a sandbox replays requests to its reseller API, which has another port.
 */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The parts that the server needs: where the built page is, and which requests a browser may send for it. */
import { fileURLToPath } from 'node:url';

/** The path of the console on its server, with slashes at both ends. */
export const BASE = '/console/';

/** The folder of the built page. It exists after `npx pnpm@12 build`, or after the first visit of the page. */
export const consoleDirectory = fileURLToPath(new URL('../console-dist/', import.meta.url));

/**
 * The Content-Security-Policy of the console. No script and no style is inline, and no request goes to another host. `connect-src` is added by
 * the server, because a sandbox replays requests to its reseller API, which has another port.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

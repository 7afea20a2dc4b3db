import { fileURLToPath } from 'node:url';

/** The folder of the built site, for whoever serves it. It exists once `npx pnpm@12 build` has run. */
export const siteDirectory = fileURLToPath(new URL('../dist/', import.meta.url));

/**
 * The Content-Security-Policy to serve the site with: the browser itself then refuses whatever would leave the machine.
 * Redoc writes its styles at run time and starts its search worker from a blob; nothing else is let in.
 */
export const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'worker-src blob:',
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

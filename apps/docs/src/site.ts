import { fileURLToPath } from 'node:url';

/** The folder of the built site. It exists after `npx pnpm@12 build`. */
export const siteDirectory = fileURLToPath(new URL('../dist/', import.meta.url));

/**
 * The Content-Security-Policy for the site. With it, the browser refuses all requests to other hosts.
 * Redoc writes its styles at run time and starts its search worker from a blob; everything else is refused.
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

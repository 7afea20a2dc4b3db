import { fileURLToPath } from 'node:url';

/** The path of the site on its server, with slashes at both ends. VitePress writes it into every page. */
export const BASE = '/docs/';

/** The folder of the built site. It exists after `npx -y pnpm@12 build`. */
export const siteDirectory = fileURLToPath(new URL('../dist/', import.meta.url));

/**
 * The Content-Security-Policy for the site. With it, the browser refuses all requests to other hosts.
 * Redoc writes its styles at run time and has its icon font in a data URL.
 */
export const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

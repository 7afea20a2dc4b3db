/** Where the page is, for its build. */
import { fileURLToPath } from 'node:url';

/** The path of the console on its server, with slashes at both ends. */
export const BASE = '/console/';

/** The folder of the built page, in which `apps/server` looks for it. */
export const consoleDirectory = fileURLToPath(new URL('../console-dist/', import.meta.url));

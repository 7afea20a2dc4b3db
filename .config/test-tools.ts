/**
 * Installs the large tools that only the tests or the documentation site need: browsers, runtimes, compilers, a database server, VitePress.
 * They have lock files of their own, so that other scripts do not download them.
 */
import { install } from './install.mjs';

/** Installs the tools of the tests. */
export function installTestTools(): void {
  installTools(import.meta.dirname, 'the tools of the tests: a browser, a database server and other runtimes, about 700 MB');
}

/**
 * Installs the tools of a folder, unless the versions of its lock file are installed.
 *
 * @param tools What they are, for the user.
 */
export function installTools(folder: string, tools: string): void {
  if (install(folder, `Installing ${tools}. This takes one to five minutes, once.`) === 'failed')
    throw new Error(`The tools of ${folder} could not be installed. Check the connection to the package registry, and try again.`);
}

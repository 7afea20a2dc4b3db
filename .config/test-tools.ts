/**
 * Installs the large tools that only the tests or the documentation site need: browsers, runtimes, compilers, a database server, VitePress.
 * They have lock files of their own, so that other scripts do not download them.
 */
import { install } from './install.mjs';

/** Installs the tools of the tests. */
export async function installTestTools(): Promise<void> {
  await installTools(import.meta.dirname, 'the tools of the tests: a browser, a database server and other runtimes, about 700 MB');
}

/**
 * Installs the tools of a folder, unless the versions of its lock file are installed.
 *
 * @param tools What they are, for the user.
 */
export async function installTools(folder: string, tools: string): Promise<void> {
  if ((await install(folder, `Installing ${tools}. This takes one to five minutes, once.`)) === 'failed')
    throw new Error(`The tools of ${folder} could not be installed. Check the connection to the package registry, and try again.`);
}

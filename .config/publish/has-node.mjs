// @ts-check
/** The first line of each published program. Plain JavaScript without imports, because it must load on any Node. */

/**
 * Tells whether the running Node is new enough for a program. If it is not, prints what the program needs and sets the exit code.
 *
 * @param {{ readonly name: string, readonly engines: { readonly node: string } }} manifest The `package.json` of the program.
 */
export function hasNode({ name, engines }) {
  const needed = engines.node.replace('>=', '');
  const running = process.version.slice(1);
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number);
  const [major = 0, minor = 0] = running.split('.').map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return true;
  process.stderr.write(`${name} needs Node ${needed} or later. This is Node ${running}. Get a newer one from https://nodejs.org.\n`);
  process.exitCode = 1;
  return false;
}

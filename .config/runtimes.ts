/** JavaScript runtimes other than Node, from their npm packages. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

export { Miniflare } from 'miniflare';

const require = createRequire(import.meta.url);

/** The program of a runtime, from the package for this platform; undefined if there is none. */
export function binaryOf(runtime: 'bun' | 'deno', platforms: readonly string[], path: string): string | undefined {
  const own = createRequire(require.resolve(`${runtime}/package.json`));
  for (const platform of platforms) {
    try {
      const binary = own.resolve(`${platform}/${path}`);
      if (existsSync(binary)) return binary;
    } catch {
      // The package for another platform is not installed.
    }
  }
  return undefined;
}

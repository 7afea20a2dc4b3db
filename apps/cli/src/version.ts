import manifest from '../package.json' with { type: 'json' };

/** Version of this package. */
export const VERSION: string = manifest.version;

/** What npm installs as a package of this project: before the first release only the tarball of `npx -y pnpm@12 pack:all`. */
export function installable(packageName: string): string {
  return VERSION === '0.0.0' ? `./${packageName.replace('@', '').replace('/', '-')}-*.tgz` : packageName;
}

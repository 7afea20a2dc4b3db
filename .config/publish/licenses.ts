/** The licences of the packages whose code is in a bundle. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';

import { sbomOf } from './sbom.ts';

/** Texts for packages that have none. A file has the name of its package, with '+' for '/'. */
const COLLECTED = join(import.meta.dirname, 'licenses');
const README_FILE = /^readme(?:\.\w+)?$/i;
const README_SECTION = /^#+ licen[cs]e\s*\n(.*?)(?=^#+ |$(?![\s\S]))/ims;
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[-._].*)?$/i;

/** A package with a part in a bundle. */
interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly folder: string;
}

/**
 * Writes the licences and the SBOM of a package with a bundle.
 *
 * @param dist Where they are written.
 * @param published The manifest with which the package is published.
 */
export function describeBundle(dist: string, published: Parameters<typeof sbomOf>[0], inputs: readonly string[], folder: string): void {
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(inputs, folder));
  writeFileSync(join(dist, 'sbom.cdx.json'), sbomOf(published, bundledPackages(inputs.map((input) => join(folder, input)))));
}

/**
 * A plugin of Vite that writes the licences and the SBOM next to the files of a site.
 *
 * @param workspace The folder of the lock file with its packages.
 * @param copied Files of packages that the site contains, and that Vite does not bundle.
 */
export function describeSite(published: Parameters<typeof sbomOf>[0], workspace: string, copied: readonly string[]) {
  return {
    name: 'describe-site',
    apply: (_config: unknown, { isSsrBuild }: { isSsrBuild?: boolean | undefined }) => isSsrBuild !== true,
    writeBundle({ dir = '' }: { dir?: string | undefined }, bundle: Readonly<Record<string, { readonly moduleIds?: readonly string[] }>>) {
      // The identifiers of modules that a plugin made begin with a null character, and some have a query.
      const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) =>
        moduleIds.map((id) => id.replace(/^\0/, '').replace(/\?.*/, '')),
      );
      const files = [...modules.filter((id) => isAbsolute(id)), ...copied];
      writeFileSync(join(dir, 'THIRD-PARTY-LICENSES.txt'), thirdPartyLicenses(files, ''));
      writeFileSync(join(dir, 'sbom.cdx.json'), sbomOf(published, bundledPackages(files), workspace));
    },
  };
}

/**
 * The text of `THIRD-PARTY-LICENSES.txt`: name, version, licence and licence text of each package.
 *
 * @param inputs The files of a bundle, relative to a folder: the keys of `inputs` in a metafile of esbuild.
 * @param folder That folder.
 * @throws Error with the packages that have no licence text.
 */
export function thirdPartyLicenses(inputs: readonly string[], folder: string): string {
  const packages = bundledPackages(inputs.map((input) => join(folder, input)));
  const texts = packages.map((bundled) => ({ bundled, text: licenseTextOf(bundled) }));
  const missing = texts.filter(({ text }) => text === '').map(({ bundled }) => `${bundled.name} ${bundled.version} (${bundled.license})`);
  if (missing.length > 0) {
    throw new Error(`The bundle contains packages without a licence text: ${missing.join(', ')}. Add the text of each to ${COLLECTED}.`);
  }
  const sections = texts.map(({ bundled, text }) => `${bundled.name} ${bundled.version} (${bundled.license})\n\n${text}\n`);
  return `This package contains code of the following packages.\n\n${sections.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function bundledPackages(files: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replaceAll('\\', '/'))?.[0] ?? []));
  const packages = [...folders].map((folder) => {
    const manifest: { name: string; version: string; license?: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { name, version, license = 'no licence named' } = manifest;
    return { name, version, license, folder };
  });
  const foreign = packages.filter(({ name }) => !name.startsWith('@reseller/'));
  const byName = new Map(foreign.map((bundled) => [`${bundled.name} ${bundled.version}`, bundled]));
  return [...byName.values()].toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
}

/** The text from the licence file, else from the README, else from our collection. */
function licenseTextOf({ name, folder }: BundledPackage): string {
  const files = readdirSync(folder).toSorted();
  function read(file: string): string {
    return readFileSync(join(folder, file), 'utf8').trim();
  }
  const texts = files.filter((file) => LICENSE_FILE.test(file)).map(read);
  if (texts.length > 0) return texts.join('\n\n');
  const section = files.filter((file) => README_FILE.test(file)).map((file) => README_SECTION.exec(read(file))?.[1] ?? '');
  const granted = section.find((text) => text.includes('Permission is hereby granted'));
  if (granted !== undefined) return granted.trim();
  const collected = join(COLLECTED, `${name.replace('/', '+')}.txt`);
  return existsSync(collected) ? readFileSync(collected, 'utf8').trim() : '';
}

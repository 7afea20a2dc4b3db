/** Software bills of materials (SBOM) in CycloneDX: pnpm writes the entry of each package, and a bundle adds those that it contains. */
import { execFileSync } from 'node:child_process';

import { PNPM, PNPM_ARGUMENTS } from '../install.mjs';
import { REPOSITORY } from '../turbo.ts';

interface Sbom {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly { readonly 'bom-ref': string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Published {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly optionalDependencies?: Readonly<Record<string, unknown>>;
}

/**
 * The text of `sbom.cdx.json`. Equal sources give equal texts, so it has no serial number and no time.
 *
 * @param published The manifest with which the package is published.
 * @param bundled The packages whose code is in its bundle.
 * @param workspace The folder of the lock file.
 * @throws Error with the bundled packages that the lock file does not have.
 */
export function sbomOf(
  published: Published,
  bundled: readonly { readonly name: string; readonly version: string }[] = [],
  workspace: string = REPOSITORY,
): string {
  const { serialNumber: _, ...own } = pnpmSbom(workspace, '--filter', published.name, '--prod');
  const { timestamp: __, ...metadata } = own.metadata;
  const graph = new Map(own.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const root = metadata.component['bom-ref'];
  const names = Object.keys({ ...published.dependencies, ...published.optionalDependencies }).map((name) => refOf(name, ''));
  const direct = (graph.get(root) ?? []).filter((ref) => names.some((name) => ref.startsWith(name)));
  const installed = closureOf(direct, graph);
  const inBundle = new Set(bundled.map(({ name, version }) => refOf(name, version)));
  const known = inBundle.size === 0 ? own : pnpmSbom(workspace);
  const entries = new Map([...known.components, ...own.components].map((component) => [component['bom-ref'], component]));
  const refs = [...new Set([...installed, ...inBundle])].toSorted();
  const missing = refs.filter((ref) => !entries.has(ref));
  if (missing.length > 0) throw new Error(`The SBOM of ${published.name} has no entry for ${missing.join(', ')}. Run 'pnpm install'.`);
  const dependencies = [
    { ref: root, dependsOn: [...new Set([...direct, ...inBundle])].toSorted() },
    ...refs.map((ref) => ({ ref, dependsOn: installed.has(ref) ? (graph.get(ref) ?? []) : [] })),
  ];
  return `${JSON.stringify({ ...own, metadata, components: refs.map((ref) => entries.get(ref)), dependencies }, null, 2)}\n`;
}

function closureOf(refs: readonly string[], graph: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(refs);
  // A set visits what is added to it.
  for (const ref of reached) for (const next of graph.get(ref) ?? []) reached.add(next);
  return reached;
}

function refOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function pnpmSbom(workspace: string, ...options: readonly string[]): Sbom {
  const command = [...PNPM_ARGUMENTS, ...options, 'sbom', '--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6'];
  return JSON.parse(
    execFileSync(PNPM, command, { cwd: workspace, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
}

/** Builds and runs the image of the Containerfile without an engine: its last stage, on a base that has only the libraries of Node. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Why images cannot be built and run here; undefined if they can. */
export function missingImageTools(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can unpack and run an image';
  const missing = ['umoci', 'runc'].filter((program) => spawnSync(program, ['--version']).status !== 0);
  return missing.length === 0 ? undefined : `${missing.join(' and ')} are not installed`;
}

/** What the last stage of a Containerfile sets. */
interface ImageConfiguration {
  readonly user: string;
  readonly environment: readonly string[];
  readonly ports: readonly string[];
  readonly entrypoint: readonly string[];
  readonly healthCheck: readonly string[];
}

export function readContainerfile(text: string): ImageConfiguration {
  const stage = text.slice(text.lastIndexOf('\nFROM ')).replaceAll(/\\\n\s*/g, '');
  function valueOf(instruction: string): string {
    const value = new RegExp(`^${instruction} (.+)$`, 'm').exec(stage)?.[1];
    if (value === undefined) throw new Error(`The Containerfile has no ${instruction}.`);
    return value;
  }
  return {
    user: valueOf('USER'),
    environment: valueOf('ENV').split(/\s+/),
    ports: valueOf('EXPOSE').split(' '),
    entrypoint: JSON.parse(valueOf('ENTRYPOINT')),
    healthCheck: JSON.parse(/CMD (.+)$/.exec(valueOf('HEALTHCHECK'))?.[1] ?? '[]'),
  };
}

/**
 * Packs an installation as the Containerfile does.
 *
 * @returns The image in the layout of OCI, with the tag `test`.
 */
export function buildImage(installation: string, configuration: ImageConfiguration, folder: string): string {
  const image = `${join(folder, 'layout')}:test`;
  const bundle = join(folder, 'build');
  umoci('init', '--layout', join(folder, 'layout'));
  umoci('new', '--image', image);
  umoci('unpack', '--image', image, bundle);
  const root = join(bundle, 'rootfs');
  for (const path of ['tmp', 'var/lib/reseller', 'proc', 'etc']) mkdirSync(join(root, path), { recursive: true });
  const node = join(installation, 'node_modules/.bin/node');
  for (const [library] of execFileSync('ldd', [node], { encoding: 'utf8' }).matchAll(/\/\S+/g)) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  cpSync(installation, join(root, 'opt/reseller'), { recursive: true, verbatimSymlinks: true });
  execFileSync('chown', ['-R', configuration.user, join(root, 'var/lib/reseller')]);
  umoci('repack', '--image', image, bundle);
  const { user, environment, ports, entrypoint } = configuration;
  umoci(
    'config',
    '--image',
    image,
    '--config.user',
    user,
    ...environment.flatMap((variable) => ['--config.env', variable]),
    ...ports.flatMap((port) => ['--config.exposedports', port]),
    ...entrypoint.flatMap((word) => ['--config.entrypoint', word]),
  );
  return image;
}

export interface RunningImage {
  /** Runs a command in the container. @returns Its exit code. */
  execute(command: readonly string[]): number | null;
  /** Stops it with the signal of `docker stop`. @returns Its exit code. */
  stop(): Promise<number | null>;
}

/**
 * Runs an image on the network of this machine, and waits for a line of its output.
 *
 * @param variables Environment variables, as `docker run --env` sets them.
 */
export async function runImage(
  image: string,
  { folder, variables, ready }: { folder: string; variables: Readonly<Record<string, string>>; ready: string },
): Promise<RunningImage> {
  const bundle = join(folder, 'run');
  umoci('unpack', '--image', image, bundle);
  const path = join(bundle, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  config.process.terminal = false;
  config.process.env.push(...Object.entries(variables).map(([name, value]) => `${name}=${value}`));
  config.linux.namespaces = config.linux.namespaces.filter(({ type }: { type: string }) => type !== 'network');
  writeFileSync(path, JSON.stringify(config));
  const name = `reseller-${process.pid}`;
  const container = spawn('runc', ['run', '--bundle', bundle, name], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  createInterface(container.stderr).on('line', (line) => lines.push(line));
  for await (const line of createInterface(container.stdout)) {
    lines.push(line);
    if (line.includes(ready)) break;
  }
  if (container.exitCode !== null) throw new Error(`The container ended:\n${lines.join('\n')}`);
  container.stdout.resume();
  return {
    execute: (command) => spawnSync('runc', ['exec', name, ...command]).status,
    async stop() {
      const ended = once(container, 'exit');
      execFileSync('runc', ['kill', name, 'TERM']);
      const [code] = await ended;
      return code;
    },
  };
}

function umoci(...given: readonly string[]): void {
  execFileSync('umoci', given, { stdio: 'pipe' });
}

/** Imports point one way: openapi <- packages <- apps, and from higher to lower layers inside the service. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const SERVICE = join(ROOT, 'packages/service');

/** Apps may not import each other, except that the server serves the site of apps/docs, and the sandbox is the server and the site as one package. */
const EXCEPTIONS: ReadonlySet<string> = new Set([
  'apps/server -> @reseller/docs',
  'apps/sandbox -> @reseller/docs',
  'apps/sandbox -> @reseller/server/bundle',
]);

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.mts'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .map((file) => join(ROOT, file))
  .filter((file) => /\.m?ts$/.test(file) && existsSync(file));

function importsIn(folder: string): Import[] {
  return sources
    .filter((file) => file.startsWith(folder + sep))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?:from|import) '([^']+)'/g)].map(([, specifier = '']) => ({ file, specifier })),
    );
}

const foldersIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [`${folder}/${entry.name}`] : []));

const apps = foldersIn('apps');
const packages = foldersIn('packages');
const nameOf = (folder: string): string => JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')).name;

describe('imports between workspace packages', () => {
  const appNames = apps.map(nameOf);
  const libraryNames = packages.map(nameOf);
  const isOneOf = (names: readonly string[], specifier: string) =>
    names.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  const wrong = (folders: readonly string[], names: readonly string[]) =>
    folders.flatMap((folder) =>
      importsIn(join(ROOT, folder)).flatMap(({ file, specifier }) =>
        isOneOf(names, specifier) && !isOneOf([nameOf(folder)], specifier) && !EXCEPTIONS.has(`${folder} -> ${specifier}`)
          ? [`${relative(ROOT, file)} imports ${specifier}`]
          : [],
      ),
    );

  test('openapi imports no package and no app', () => {
    expect(wrong(['openapi'], [...libraryNames, ...appNames])).toEqual([]);
  });

  test('packages import no app', () => {
    expect(wrong(packages, appNames)).toEqual([]);
  });

  test('the adapters import no other package of ours, so that an adapter needs only @reseller/adapters', () => {
    expect(wrong(['packages/adapters'], libraryNames)).toEqual([]);
  });

  test('apps do not import each other', () => {
    expect(wrong(apps, appNames)).toEqual([]);
  });

  test('no relative import of a source leaves its package', () => {
    const left = ['openapi', ...packages, ...apps].flatMap((folder) =>
      importsIn(join(ROOT, folder, 'src')).flatMap(({ file, specifier }) =>
        specifier.startsWith('.') &&
        !file.endsWith('.test.ts') &&
        // Each program checks its Node with it before it loads anything else.
        !specifier.endsWith('.config/publish/has-node.mjs') &&
        relative(join(ROOT, folder), resolve(dirname(file), specifier)).startsWith('..')
          ? [`${relative(ROOT, file)} imports ${specifier}`]
          : [],
      ),
    );
    expect(left).toEqual([]);
  });
});

/** Packages whose files can be read one by one, because none needs itself. Imports of types count. */
const WITHOUT_CIRCLES = ['packages/client', 'packages/operator-client', 'packages/adapters', 'packages/prices'];

test.each(WITHOUT_CIRCLES)('no file of %s imports itself through others, not even a type', (folder) => {
  const imports = Map.groupBy(
    importsIn(join(ROOT, folder, 'src')).filter(({ specifier }) => specifier.startsWith('.')),
    ({ file }) => file,
  );
  function reachedFrom(file: string, reached = new Set<string>()): ReadonlySet<string> {
    for (const { specifier } of imports.get(file) ?? []) {
      const target = resolve(dirname(file), specifier);
      if (!reached.has(target)) reachedFrom(target, reached.add(target));
    }
    return reached;
  }
  const circular = [...imports.keys()].filter((file) => reachedFrom(file).has(file));
  expect(circular.map((file) => relative(ROOT, file))).toEqual([]);
});

test('the service imports nothing but types from the clients', () => {
  const source = join(SERVICE, 'src') + sep;
  const values = sources
    .filter((file) => file.startsWith(source) && !file.endsWith('.test.ts'))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type )[^;]*?'@reseller\/(?:operator-)?client[^']*'/gm)].map(
        ([statement]) => `${relative(source, file)}: ${statement}`,
      ),
    );
  expect(values).toEqual([]);
});

describe('the layers of the service', () => {
  const layers = [...readFileSync(join(SERVICE, 'README.md'), 'utf8').matchAll(/^\| `(\w+)\/` \|/gm)].map(([, name = '']) => name);
  const siblings: ReadonlySet<string> = new Set(['reseller operator', 'operator reseller']);
  const source = join(SERVICE, 'src');
  const layerOf = (path: string): string | undefined => {
    const [folder, ...rest] = relative(source, path).split(sep);
    return rest.length > 0 ? folder : undefined;
  };

  test('the README lists every folder', () => {
    const folders = new Set(sources.filter((file) => file.startsWith(source + sep)).flatMap((file) => layerOf(file) ?? []));
    expect(layers.toSorted()).toEqual([...folders].toSorted());
  });

  test('each imports only the layers above it in the README', () => {
    const wrong = importsIn(source).flatMap(({ file, specifier }) => {
      const from = layerOf(file);
      if (!specifier.startsWith('.') || from === undefined || file.endsWith('.test.ts')) return [];
      const to = layerOf(resolve(dirname(file), specifier));
      const isAllowed = to !== undefined && (to === from || (layers.indexOf(to) < layers.indexOf(from) && !siblings.has(`${from} ${to}`)));
      return isAllowed ? [] : [`${relative(source, file)} imports ${specifier}`];
    });
    expect(wrong).toEqual([]);
  });

  test('the two HTTP applications do not import each other', () => {
    const http = join(source, 'http');
    const wrong = importsIn(http).flatMap(({ file, specifier }) => {
      if (!specifier.startsWith('.') || file.endsWith('.test.ts')) return [];
      const folderOf = (path: string) => relative(http, path).split(sep)[0] ?? '';
      const [from, to] = [folderOf(file), folderOf(resolve(dirname(file), specifier))];
      return siblings.has(`${from} ${to}`) ? [`${relative(source, file)} imports ${specifier}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  /**
   * The areas of `core/`, from the lowest to the highest. `jobs` is next to all of them: it performs the jobs of each area, and each area
   * performs the due jobs of an account before it changes anything.
   */
  const areas = ['events', 'account', 'catalogue', 'accounting', 'domain', 'dedicated', 'vm'];

  test('each area of core imports only the areas below it, and jobs', () => {
    const core = join(source, 'core');
    const areaOf = (path: string) => relative(core, path).split(sep)[0] ?? '';
    const wrong = importsIn(core).flatMap(({ file, specifier }) => {
      const [from, to] = [areaOf(file), areaOf(resolve(dirname(file), specifier))];
      if (!specifier.startsWith('.') || file.endsWith('.test.ts') || !areas.includes(from) || from === to) return [];
      return to === '..' || to === 'jobs' || (areas.includes(to) && areas.indexOf(to) < areas.indexOf(from))
        ? []
        : [`${relative(source, file)} imports ${specifier}`];
    });
    expect(wrong).toEqual([]);
  });
});

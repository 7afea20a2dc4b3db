/** The browser of the tests: a real Chromium. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';
import type { Browser } from 'playwright-core';

import { WAIT_LIMIT_MS } from './depth.ts';
import packaged from './node_modules/@sparticuz/chromium/package.json' with { type: 'json' };

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Switches off features that make the browser contact other hosts by itself. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Contains the version, so that another version is unpacked again. */
const UNPACKED = join(import.meta.dirname, `../node_modules/.cache/chromium-${packaged.version}`);

const system = systemBrowser();

/** Reason to skip tests without a browser; undefined if there is a browser. */
export const noBrowser =
  system === undefined && !(process.platform === 'linux' && process.arch === 'x64')
    ? `no Chromium on the PATH (${NAMES.join(', ')}), and the npm package has none for ${process.platform} ${process.arch}`
    : undefined;

/**
 * Starts a headless Chromium: the system's, or else the one in the npm package `@sparticuz/chromium`.
 *
 * @throws Error if there is no browser (`noBrowser`).
 */
export async function launchBrowser(): Promise<Browser> {
  if (noBrowser !== undefined) throw new Error(`The test needs a browser: ${noBrowser}.`);
  // Chromium has no sandbox for root, and the packaged Chromium lacks the helper of the sandbox.
  const hasSandbox = system !== undefined && process.getuid?.() !== 0;
  const browser = await playwright.launch({
    executablePath: system ?? (await packagedBrowser()),
    args: [...QUIET, ...(hasSandbox ? [] : ['--no-sandbox'])],
  });
  // In a deep run, a test may take an hour. A wait that fails names its element long before.
  browser.on('context', (context) => context.setDefaultTimeout(WAIT_LIMIT_MS));
  return browser;
}

function systemBrowser(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** Unpacks the browser once. Other processes may do so at the same time, so each unpacks to a temporary folder and renames it. */
async function packagedBrowser(): Promise<string> {
  const path = join(UNPACKED, 'chromium');
  if (existsSync(path)) return path;
  await mkdir(join(UNPACKED, '..'), { recursive: true });
  const own = await mkdtemp(`${UNPACKED}-`);
  const usual = process.env['TMPDIR'];
  try {
    // The package unpacks only into this folder.
    process.env['TMPDIR'] = own;
    await chromium.executablePath();
    await rename(own, UNPACKED).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
  } finally {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    await rm(own, { recursive: true, force: true });
  }
  return path;
}

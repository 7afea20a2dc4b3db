import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwrightChromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** What would make a browser talk to other hosts on its own account is switched off. */
const quiet = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Its package is made for one page and out; in a single process, Chromium ends with the first page that is closed. */
const packaged = chromium.args.filter((argument) => argument !== '--single-process');

/** A headless Chromium: the system's if there is one, else the one inside an npm package. */
export async function launchBrowser(): Promise<Browser> {
  const system = systemBrowser();
  // Chromium refuses its sandbox to root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return playwrightChromium.launch({
    executablePath: system ?? (await chromium.executablePath()),
    args: [...(system === undefined ? packaged : []), ...quiet, ...sandbox],
    headless: true,
  });
}

function systemBrowser(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

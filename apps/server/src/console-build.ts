/**
 * Builds the console of a clone at the first visit of its page. A start would otherwise wait for packages that only the console needs. A
 * packed server contains the built console.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { RELOAD_SCRIPT } from '@reseller/service';

const BUILDER = resolve(import.meta.dirname, '../../../.config/console.ts');
/** The end of the output that the page shows. */
const SHOWN_CHARACTERS = 2_000;

type State = { readonly kind: 'idle' | 'building' } | { readonly kind: 'failed'; readonly output: string };

/**
 * @param directory The folder of the built console.
 * @returns A function that begins the build, unless it has begun, and returns the page that says so.
 */
export function consoleBuilder(mode: 'sandbox' | 'live', directory: string): () => string {
  // The file server expects its folder when it starts.
  if (existsSync(BUILDER)) mkdirSync(join(directory, 'assets'), { recursive: true });
  let state: State = { kind: 'idle' };

  function build(): void {
    state = { kind: 'building' };
    let output = '';
    const child = spawn(process.execPath, [BUILDER], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (lines) => (output += String(lines)));
    child.on('error', (error) => (state = { kind: 'failed', output: error.message }));
    child.on('close', (code) => (state = code === 0 ? { kind: 'idle' } : { kind: 'failed', output: output.slice(-SHOWN_CHARACTERS) }));
  }

  return () => {
    // A live service installs nothing by itself.
    if (mode === 'live' || !existsSync(BUILDER))
      return page('The console is not built', 'Stop the service, run <code>npx -y pnpm@12 build</code>, and start it again.');
    if (state.kind === 'failed')
      return page(
        'The console could not be built',
        `Run <code>npx -y pnpm@12 build</code>, which shows why.</p><pre>${escaped(state.output)}</pre><p>`,
      );
    if (state.kind === 'idle') build();
    return page(
      'The console is being built',
      'This happens once. It installs about 60 packages, which takes 5 to 60 seconds, depending on the network. This page then shows the console.',
      RELOAD,
    );
  };
}

const RELOAD = `<script src="${RELOAD_SCRIPT}"></script><noscript>Load this page again in a minute.</noscript>`;

/** The page has no style, because its Content-Security-Policy allows none that is inline. */
function page(title: string, text: string, end = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${title}</title></head><body><h1>${title}</h1><p>${text}</p>${end}</body></html>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

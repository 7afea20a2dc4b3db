/** Loaded into a program with --import: adds each sync, new name and request, in their order, to the file RECORDED_SYNCS. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { appendFileSync, fsyncSync, linkSync, openSync, renameSync } = fs;
const { fetch } = globalThis;
const paths = new Map<number, string>();

function note(line: string): void {
  appendFileSync(process.env['RECORDED_SYNCS'] ?? '', `${line}\n`);
}

Object.assign(fs, {
  openSync(...given: Parameters<typeof openSync>) {
    const descriptor = openSync(...given);
    paths.set(descriptor, String(given[0]));
    return descriptor;
  },
  fsyncSync(descriptor: number) {
    fsyncSync(descriptor);
    note(`sync ${paths.get(descriptor)}`);
  },
  linkSync(from: string, to: string) {
    linkSync(from, to);
    note(`name ${to}`);
  },
  renameSync(from: string, to: string) {
    renameSync(from, to);
    note(`name ${to}`);
  },
});
syncBuiltinESMExports();

globalThis.fetch = (input, init) => {
  note(`send ${init?.method ?? 'GET'} ${input instanceof Request ? input.url : String(input)}`);
  return fetch(input, init);
};

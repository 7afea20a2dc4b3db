/** Builds the site: writes its pages to `site/.pages/`, runs VitePress, and adds the files that VitePress does not create. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { isError } from '@reseller/contract/is-error';
import { strToU8, zipSync } from 'fflate';
import { stringify } from 'yaml';

import { brunoCollection, postmanCollection } from './collections.ts';
import { conceptPages, sectionsOf } from './concepts.ts';
import { operationsOf, readDocument } from './document.ts';
import { errorCatalogue } from './errors.ts';
import { withExtensionLine } from './extension-of-guide.ts';
import { compress, moveInlineScripts } from './finish.ts';
import { guideGroups } from './guides.ts';
import { CLIENT_PAGE, documentPage, HANDBOOK } from './handbook.ts';
import { navigationsOf } from './navigation.ts';
import { NOT_SHOWN, notShownPage } from './not-shown.ts';
import { operationPage } from './operation-page.ts';
import { changelog, llmsTxt, operationList, referencePage } from './pages.ts';
import type { ReadDocument } from './pages.ts';
import { copyRedoc } from './redoc.ts';
import { referenceDocument } from './reference-document.ts';
import { OPERATOR_SECTION, operationPath, references, SPECIFICATION } from './references.ts';
import { samplesOf } from './samples.ts';
import { siteDirectory } from './site.ts';
import { runVitePress, SITE } from './vitepress.ts';

/** The pages that VitePress renders: those of `site/`, and those that the build makes from the documents. */
const PAGES = join(SITE, '.pages');
const ARCHIVE_DATE = '2024-01-01T00:00:00';
const HAND_WRITTEN = ['index.md', 'hero-sample.md', 'quickstart.md', 'downloads.md', 'guides', OPERATOR_SECTION];

try {
  await main();
} catch (error) {
  process.stderr.write(`${isError(error) ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const documents = await Promise.all(references.map(async (reference) => ({ reference, document: await readDocument(reference) })));
  await rm(PAGES, { recursive: true, force: true });
  for (const page of HAND_WRITTEN) await cp(join(SITE, page), join(PAGES, page), { recursive: true });
  await writePages(documents);
  runVitePress();
  await moveInlineScripts(siteDirectory);
  await copyRedoc(join(siteDirectory, 'redoc'));
  await writeDownloads(documents);
  await compress(siteDirectory);
}

async function writePages(documents: readonly ReadDocument[]): Promise<void> {
  const reseller = documents.find(({ reference }) => reference.followsSpecification);
  if (reseller === undefined) throw new Error('No reference follows the specification.');
  for (const name of guideGroups.flatMap(({ guides }) => guides.map((guide) => guide.name))) {
    const path = `guides/${name}.md`;
    await write(PAGES, path, withExtensionLine(await readFile(join(SITE, path), 'utf8'), reseller, '../'));
  }
  await write(PAGES, 'navigation.json', JSON.stringify(navigationsOf(sectionsOf(documents))));
  for (const section of sectionsOf(documents)) {
    await write(PAGES, `${section.path}errors.md`, errorCatalogue(section));
    for (const { name, page } of conceptPages(section)) await write(PAGES, `${section.path}concepts/${name}.md`, page);
  }
  await write(PAGES, 'changelog.md', await changelog());
  await write(PAGES, `${NOT_SHOWN}.md`, notShownPage(await readDocument(SPECIFICATION)));
  for (const page of HANDBOOK) await write(PAGES, `${OPERATOR_SECTION}/${page.name}.md`, await documentPage(page));
  await write(PAGES, `guides/${CLIENT_PAGE.name}.md`, await documentPage(CLIENT_PAGE));
  for (const read of documents) {
    const { reference, document } = read;
    await write(PAGES, `${reference.page}.md`, referencePage(read));
    await write(PAGES, `${reference.operations}/index.md`, operationList(read));
    for (const placed of operationsOf(document)) {
      const { page } = operationPage(document, placed, reference, samplesOf(document, placed, reference));
      await write(PAGES, `${operationPath(reference, placed.operation)}.md`, page);
    }
  }
}

async function writeDownloads(documents: readonly ReadDocument[]): Promise<void> {
  // A service that serves the site returns its own version of this file, with its addresses.
  await write(siteDirectory, 'own-servers.js', 'globalThis.ownServers = {};\n');
  const specification = { reference: SPECIFICATION, document: await readDocument(SPECIFICATION) };
  for (const { reference, document } of [...documents, specification]) {
    const { name } = reference;
    await write(siteDirectory, `openapi/${name}.json`, `${JSON.stringify(document, null, 2)}\n`);
    await write(siteDirectory, `openapi/${name}.yaml`, stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }));
    await write(siteDirectory, `openapi/${name}.reference.json`, JSON.stringify(referenceDocument(document, reference)));
    await write(siteDirectory, `collections/${name}.postman.json`, `${JSON.stringify(postmanCollection(document, reference), null, 2)}\n`);
    await write(siteDirectory, `collections/${name}.bruno.zip`, archive(brunoCollection(document, reference)));
  }
  for (const { reference, document } of documents)
    for (const placed of operationsOf(document)) {
      const { markdown } = operationPage(document, placed, reference, samplesOf(document, placed, reference));
      await write(siteDirectory, `${operationPath(reference, placed.operation)}.md`, markdown);
    }
  const guides = [
    { title: 'Quickstart', path: 'quickstart.md' },
    ...guideGroups.flatMap((group) => group.guides.map(({ title, name }) => ({ title, path: `guides/${name}.md` }))),
  ];
  for (const { path } of guides) await write(siteDirectory, path, await readFile(join(SITE, path)));
  await write(siteDirectory, 'llms.txt', llmsTxt(documents, guides));
}

/** A ZIP archive. Its files have a fixed date, so that the same documents give the same archive. */
function archive(files: Readonly<Record<string, string>>): Uint8Array {
  const contents = Object.entries(files).map(([path, text]) => [path, strToU8(text)] as const);
  return zipSync(Object.fromEntries(contents), { mtime: ARCHIVE_DATE });
}

async function write(folder: string, path: string, content: string | Uint8Array): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

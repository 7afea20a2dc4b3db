/**
 * The content of a document as it is stored. The lines of a long document are compressed in parts, because nobody else is served while a text of
 * many megabytes is written or read at once.
 */
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';

import type { VatTreatment } from '../../../rules/vat.ts';
import type { IssuedDocumentsTable } from '../../../store/tables/accounting.ts';
import type { DocumentContent, Group, Line, RateSum } from './content.ts';

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Lines in parts: JSON lists, compressed with gzip, in base64. */
interface CompressedLines {
  readonly count: number;
  readonly parts: readonly string[];
}

/** Lines that were issued before they had rates have none. */
type StoredLine = Omit<Line, 'basisPoints'> & Partial<Line>;
type StoredLines = readonly StoredLine[] | CompressedLines;

/** A group of a document as it is stored. */
export type StoredGroup = Omit<Group, 'lines'> & { readonly lines: StoredLines };

/** Documents that were issued before lines had rates have one rate. Before lines had reverse charge, all lines of a document had it, or none. */
export type StoredContent = Omit<DocumentContent, 'vat' | 'groups'> & {
  readonly vat: DocumentContent['vat'] | Omit<RateSum, 'net'>;
  readonly groups: readonly StoredGroup[];
};

/** The content of a document without its lines. */
export type DocumentHead = Omit<DocumentContent, 'groups'>;

/** @param partLines The lines of a part. */
export async function compressLines(lines: readonly Line[], partLines: number): Promise<CompressedLines> {
  const parts: string[] = [];
  for (let at = 0; at < lines.length; at += partLines)
    parts.push((await compress(JSON.stringify(lines.slice(at, at + partLines)))).toString('base64'));
  return { count: lines.length, parts };
}

export function storedContentOf({ content }: Pick<IssuedDocumentsTable, 'content'>): StoredContent {
  return JSON.parse(content);
}

export function headOf({ vat, groups: _groups, ...content }: StoredContent): DocumentHead {
  const sums = 'basisPoints' in vat ? [{ ...vat, net: content.net }] : vat;
  const older = olderTreatment(content, sums);
  return { ...content, vat: sums.map((sum) => ({ ...sum, ...older })) };
}

/** Other work runs between the parts of a long document. */
export async function contentOf(stored: StoredContent): Promise<DocumentContent> {
  const head = headOf(stored);
  const [{ basisPoints } = { basisPoints: 0 }] = head.vat;
  const older = olderTreatment(stored, 'basisPoints' in stored.vat ? [stored.vat] : stored.vat);
  const groups: Group[] = [];
  for (const { lines, ...group } of stored.groups)
    groups.push({ ...group, lines: (await decompressed(lines)).map((line) => ({ basisPoints, ...line, ...older })) });
  return { ...head, groups };
}

export function lineCountOf({ groups }: Pick<StoredContent, 'groups'>): number {
  return groups.reduce((sum, { lines }) => sum + ('parts' in lines ? lines.count : lines.length), 0);
}

async function decompressed(lines: StoredLines): Promise<readonly StoredLine[]> {
  if (!('parts' in lines)) return lines;
  const all: StoredLine[] = [];
  for (const part of lines.parts) {
    const own: readonly StoredLine[] = JSON.parse((await decompress(Buffer.from(part, 'base64'))).toString());
    all.push(...own);
  }
  return all;
}

function olderTreatment({ reverseCharge }: Pick<DocumentContent, 'reverseCharge'>, sums: readonly VatTreatment[]): Partial<VatTreatment> {
  return reverseCharge && !sums.some((sum) => sum.reverseCharge) ? { reverseCharge: true } : {};
}

/** The logo of the seller on documents. */
import { crc32, deflateSync } from 'node:zlib';

import * as operator from '@reseller/operator-client';
import { getDocumentProxy } from 'unpdf';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../../../test/harness.ts';
import { JPEG, JPEG_START } from '../../../../test/images.ts';
import { oncePerFile } from '../../../../test/lifetime.ts';
import { refusalOf, startOperator } from '../../../../test/operator.ts';
import { sandboxSeller } from '../../../sandbox/seller.ts';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** An image of one color. @param shown The pixels that the header names. */
function png({ alpha = false, shown = 30 }: { readonly alpha?: boolean; readonly shown?: number } = {}): Buffer {
  const [width, height] = [30, 10];
  const header = Buffer.alloc(13);
  header.writeUInt32BE(shown);
  header.writeUInt32BE(height, 4);
  header.set([8, alpha ? 6 : 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (1 + width * (alpha ? 4 : 3)), 0x7f);
  for (let row = 0; row < height; row++) rows[row * (rows.length / height)] = 0;
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

async function startSeller() {
  const service = await startOperator();
  const { client } = service;
  const set = (logo?: string | null) => operator.setSeller({ client, body: { ...sandboxSeller, ...(logo !== undefined && { logo }) } });
  return { service, client, set };
}

/** For refusals, which change nothing. The first one starts the thread that draws. */
const refusing = oncePerFile(startSeller);

/** The alternative texts of the images of a PDF. */
async function figuresOf(url: string): Promise<string[]> {
  const pdf = await getDocumentProxy(new Uint8Array(await (await fetch(url)).arrayBuffer()));
  const tree = await (await pdf.getPage(1)).getStructTree();
  const alts: string[] = [];
  JSON.stringify(tree, (key, value: unknown) => {
    if (key === 'alt') alts.push(String(value));
    return value;
  });
  return alts;
}

test.each([
  ['a PNG image', png()],
  ['a PNG image with transparency', png({ alpha: true })],
  ['a JPEG image', JPEG],
])('documents show %s as the logo that the seller had when they were issued', async (_, image) => {
  const { service, client, set } = await startSeller();
  const { seller } = await set(image.toString('base64'));
  expect(seller).toMatchObject({ ...sandboxSeller, logo_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect((await set()).seller).toEqual(seller);
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  expect((await set(null)).seller).toEqual(sandboxSeller);
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  await service.runScheduledJobs();
  const [december, november] = (await service.call('listDocuments')).body.data.list;
  expect(await figuresOf(november.document)).toEqual([sandboxSeller.company]);
  expect(await figuresOf(december.document)).toEqual([]);
  expect((await operator.getSeller({ client })).seller).toEqual(sandboxSeller);
});

test.each([
  ['a text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['half of a PNG image', png().subarray(0, 60)],
  [
    'a PNG image with wrong pixels',
    Buffer.concat([png().subarray(0, 33), chunk('IDAT', Buffer.from('no pixels')), chunk('IEND', Buffer.alloc(0))]),
  ],
  ['a PNG image without its last part', png().subarray(0, -12)],
  ['a PNG image of 20,000,000 pixels', png({ shown: 2_000_000 })],
  ['a JPEG image without its end', JPEG_START],
  ['a GIF image', Buffer.from('R0lGODlhAQABAAAAACw=', 'base64')],
])('refuses %s as a logo', async (_, image) => {
  const { client, set } = await refusing();
  expect(await refusalOf(set(image.toString('base64')))).toMatchObject({
    status: 422,
    fields: [{ field: '#/logo', message: expect.stringContaining('must be a complete PNG or JPEG image') }],
  });
  expect((await operator.getSeller({ client })).seller).toEqual(sandboxSeller);
});

test('refuses a logo of more than 32 KiB', async () => {
  const { set } = await refusing();
  expect(await refusalOf(set(Buffer.alloc(32_769).toString('base64')))).toMatchObject({ status: 422, fields: [{ field: '#/logo' }] });
});

/** The checks of a logo that the PDF library does not make: it embeds most images without reading their pixels. */
import { inflateSync } from 'node:zlib';

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const END_OF_JPEG = Buffer.from([0xff, 0xd9]);
/** Readers of the document decompress the pixels. */
const MAX_PIXELS = 2_000_000;
const MAX_BYTES_PER_PIXEL = 8;

/** @throws Error if an image has too many pixels, or is damaged. */
export function assertUsable(image: Buffer): void {
  if (!image.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
    if (!image.includes(END_OF_JPEG)) throw new RangeError('The image has no end.');
    return;
  }
  if (image.readUInt32BE(16) * image.readUInt32BE(20) > MAX_PIXELS) throw new RangeError('The image has too many pixels.');
  inflateSync(Buffer.concat(pixelChunks(image)), { maxOutputLength: MAX_PIXELS * (MAX_BYTES_PER_PIXEL + 1) });
}

/** The chunks of a PNG image with its compressed pixels. @throws RangeError if the image ends before its last chunk. */
function pixelChunks(image: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = PNG_SIGNATURE.length; ; at += image.readUInt32BE(at) + 12) {
    const type = image.toString('latin1', at + 4, at + 8);
    if (type === 'IEND') return chunks;
    if (type === 'IDAT') chunks.push(image.subarray(at + 8, at + 8 + image.readUInt32BE(at)));
  }
}

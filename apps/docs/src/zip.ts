import { crc32 } from 'node:zlib';

/** 1 January 2024 in the format of MS-DOS, so that the same files give the same archive. */
const DATE = ((2024 - 1980) << 9) | (1 << 5) | 1;
const VERSION = 20;
const UTF8_NAMES = 1 << 11;

/** A ZIP archive of short texts, without compression. */
export function zip(files: Readonly<Record<string, string>>): Uint8Array {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path);
    const content = Buffer.from(text);
    const common = numbers(
      [VERSION, 2],
      [UTF8_NAMES, 2],
      [0, 2],
      [0, 2],
      [DATE, 2],
      [crc32(content), 4],
      [content.length, 4],
      [content.length, 4],
      [name.length, 2],
      [0, 2],
    );
    const local = Buffer.concat([numbers([0x04034b50, 4]), common, name, content]);
    directory.push(numbers([0x02014b50, 4], [VERSION, 2]), common, numbers([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]), name);
    parts.push(local);
    offset += local.length;
  }
  const count = Object.keys(files).length;
  const listed = Buffer.concat(directory);
  return Buffer.concat([
    ...parts,
    listed,
    numbers([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [listed.length, 4], [offset, 4], [0, 2]),
  ]);
}

/** Unsigned little-endian numbers with their lengths in bytes. */
function numbers(...values: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );
}

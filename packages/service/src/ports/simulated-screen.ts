/**
 * The screen of a simulated VM, by the Remote Framebuffer protocol (RFC 6143): it shows the number of the VM, and a block for each key that was
 * pressed. So a console can be tried without a machine.
 */
import { duplexPair } from 'node:stream';
import type { Duplex } from 'node:stream';

const WIDTH = 320;
const HEIGHT = 120;
const BYTES_PER_PIXEL = 4;
const DARK = 0x10;
const LIGHT = 0xe0;
/** The digits as five rows of three pixels. */
const DIGITS = ['75557', '26227', '71747', '71717', '55711', '74717', '74757', '71111', '75757', '75717'];
const DIGIT_WIDTH = 3;
const DIGIT_SCALE = 10;
const BLOCK_SIZE = 8;
const BLOCKS_OF_ROW = 36;
const MAX_BLOCKS = 4 * BLOCKS_OF_ROW;

/** @returns The side of the client. */
export function simulatedScreen(vmId: number): Duplex {
  const [client, server] = duplexPair();
  serveScreen(server, vmId).catch(() => server.destroy());
  return client;
}

async function serveScreen(socket: Duplex, vmId: number): Promise<void> {
  const read = byteReaderOf(socket);
  socket.write('RFB 003.008\n');
  await read(12);
  // One kind of authentication: none. Its result is success.
  socket.write(Buffer.from([1, 1]));
  await read(1);
  socket.write(Buffer.alloc(4));
  await read(1);
  socket.write(serverInit(`VM ${vmId}`));
  let keys = 0;
  let isChanged = true;
  let isAwaited = false;
  for (;;) {
    const [type] = await read(1);
    if (type === 0) await read(19);
    else if (type === 2) await read(4 * (await read(3)).readUInt16BE(1));
    else if (type === 3) {
      const [isIncremental] = await read(9);
      isChanged ||= isIncremental === 0;
      isAwaited = true;
    } else if (type === 4) {
      const [isDown] = await read(7);
      if (isDown === 1) [keys, isChanged] = [keys + 1, true];
    } else if (type === 5) await read(5);
    else if (type === 6) await read(Math.abs((await read(7)).readInt32BE(3)));
    else return void socket.end();
    if (!isChanged || !isAwaited) continue;
    socket.write(update(picture(vmId, keys)));
    [isChanged, isAwaited] = [false, false];
  }
}

/** Reads a number of bytes. */
function byteReaderOf(socket: Duplex): (bytes: number) => Promise<Buffer> {
  const chunks = socket[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return async (bytes) => {
    while (rest.length < bytes) {
      const { value, done } = await chunks.next();
      if (done) throw new Error('The client has gone.');
      rest = Buffer.concat([rest, value]);
    }
    const taken = rest.subarray(0, bytes);
    rest = rest.subarray(bytes);
    return taken;
  };
}

function serverInit(name: string): Buffer {
  const init = Buffer.alloc(24);
  init.writeUInt16BE(WIDTH, 0);
  init.writeUInt16BE(HEIGHT, 2);
  // 32 bits for each pixel, of which 24 are used, little-endian, true colour, with 255 as the highest value of each colour.
  init.set([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16], 4);
  init.writeUInt32BE(name.length, 20);
  return Buffer.concat([init, Buffer.from(name)]);
}

/** An update of the whole screen, with raw pixels. They are grey, so their order of colours makes no difference. */
function update(pixels: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(WIDTH, 8);
  head.writeUInt16BE(HEIGHT, 10);
  return Buffer.concat([head, pixels]);
}

function picture(vmId: number, keys: number): Buffer {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * BYTES_PER_PIXEL, DARK);
  function fill(left: number, top: number, size: number): void {
    for (let y = top; y < top + size; y++)
      pixels.fill(LIGHT, (y * WIDTH + left) * BYTES_PER_PIXEL, (y * WIDTH + left + size) * BYTES_PER_PIXEL);
  }
  for (const [place, digit] of [...String(vmId)].entries())
    for (const [row, bits] of [...(DIGITS[Number(digit)] ?? '')].entries())
      for (let column = 0; column < DIGIT_WIDTH; column++) {
        const isSet = (Number(bits) >> (DIGIT_WIDTH - 1 - column)) & 1;
        if (isSet) fill(16 + (place * (DIGIT_WIDTH + 1) + column) * DIGIT_SCALE, 8 + row * DIGIT_SCALE, DIGIT_SCALE - 1);
      }
  for (let block = 0; block < keys % MAX_BLOCKS; block++)
    fill(16 + (block % BLOCKS_OF_ROW) * BLOCK_SIZE, 72 + Math.floor(block / BLOCKS_OF_ROW) * (BLOCK_SIZE + 2), BLOCK_SIZE - 1);
  return pixels;
}

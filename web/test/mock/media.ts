// Pictures and sounds made on the spot, so that the tests carry no binary files.
import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, data: Buffer): Buffer {
  const head = Buffer.from(type, "latin1");
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  head.copy(out, 4);
  data.copy(out, 8);
  out.writeUInt32BE(crc32(Buffer.concat([head, data])), 8 + data.length);
  return out;
}

/** A PNG whose pixels are given by a function of their place, as red, green and blue. */
export function png(width: number, height: number, pixel: (x: number, y: number) => [number, number, number]): Buffer {
  const raw = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0, at = 0; y < height; y++) {
    raw[at++] = 0;
    for (let x = 0; x < width; x++) for (const part of pixel(x, y)) raw[at++] = part;
  }
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", size),
    chunk("IDAT", deflateSync(raw)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const near = (a: number, b: number): boolean => Math.abs(a - b) < 1.2;

/** Shapes in flat colours: what the tests upload. */
export const shapes = (): Buffer =>
  png(320, 220, (x, y) => {
    if ((x - 90) ** 2 + (y - 110) ** 2 < 60 ** 2) return [214, 88, 60];
    if (x > 180 && x < 280 && y > 60 && y < 170) return [52, 108, 168];
    return [238, 229, 206];
  });

/** The outlines of those shapes: what stands for found edges. */
export const outlines = (): Buffer =>
  png(320, 220, (x, y) => {
    const onCircle = near(Math.hypot(x - 90, y - 110), 60);
    const onBox =
      near(x, 180) || near(x, 280) ? y >= 60 && y <= 170 : (near(y, 60) || near(y, 170)) && x >= 180 && x <= 280;
    return onCircle || onBox ? [255, 255, 255] : [12, 12, 14];
  });

/** Those shapes as coloured regions. */
export const regions = (): Buffer =>
  png(320, 220, (x, y) => {
    if ((x - 90) ** 2 + (y - 110) ** 2 < 60 ** 2) return [246, 189, 96];
    if (x > 180 && x < 280 && y > 60 && y < 170) return [132, 165, 157];
    return [245, 202, 195];
  });

/** A second of a soft tone, as WAV. */
export function tone(): Buffer {
  const rate = 16_000;
  const out = Buffer.alloc(44 + rate * 2);
  out.write("RIFF", 0);
  out.writeUInt32LE(36 + rate * 2, 4);
  out.write("WAVEfmt ", 8);
  out.writeUInt32LE(16, 16);
  out.writeUInt16LE(1, 20);
  out.writeUInt16LE(1, 22);
  out.writeUInt32LE(rate, 24);
  out.writeUInt32LE(rate * 2, 28);
  out.writeUInt16LE(2, 32);
  out.writeUInt16LE(16, 34);
  out.write("data", 36);
  out.writeUInt32LE(rate * 2, 40);
  for (let i = 0; i < rate; i++)
    out.writeInt16LE(Math.round(6000 * Math.sin((i / rate) * 2 * Math.PI * 330)), 44 + i * 2);
  return out;
}

/** A JPEG image of one pixel, without its end. */
export const JPEG_START = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
  'base64',
);
export const JPEG = Buffer.concat([JPEG_START, Buffer.from([0xff, 0xd9])]);

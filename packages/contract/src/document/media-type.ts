/** A media type without its parameters, in lower case. */
export function mediaTypeName(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The media type of a form with files. */
export const MULTIPART = 'multipart/form-data';

/** Whether a media type, in lower case without parameters, is JSON. */
export function isJsonType(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

import { basename } from 'node:path';

/**
 * The folder of a document's paths and components, relative to redocly.yaml. The parts of openapi.yaml are next to it. The parts of another
 * document are in a folder with its name. So a change of one document cannot break the other, except for the extension, which extends openapi.yaml.
 *
 * @param root - the root document's file
 * @returns '' or the folder with a trailing slash, such as `operator/`
 */
export function folderOfParts(root: string): string {
  const name = basename(root, '.yaml');
  return name === 'openapi' ? '' : `${name}/`;
}

/** Whether a root document is the extension. It extends openapi.yaml, so it may also refer to the components of that document. */
export function isExtension(root: string): boolean {
  return folderOfParts(root) === 'extension/';
}

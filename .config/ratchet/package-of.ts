/** The package of a file, or else its first folder. The examples count as one. */
export function packageOf(file: string): string {
  return file
    .split('/')
    .slice(0, /^(?:packages|apps)\//.test(file) ? 2 : 1)
    .join('/');
}

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;

/** Whether a text is a fully qualified domain name: at least two labels of letters, digits and inner hyphens (RFC 1123). It may end in a dot. */
export function isFullyQualified(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const labels = name.split('.');
  return labels.length >= 2 && name.length <= 253 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
}

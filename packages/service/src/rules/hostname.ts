const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;

/** Whether a text is a hostname: labels of letters, digits and inner hyphens, at most 253 characters (RFC 1123). */
export function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}

/** Whether a text is a fully qualified domain name: a hostname of two labels or more, a closing dot allowed. */
export function isFullyQualified(text: string): boolean {
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const labels = name.split('.');
  return labels.length >= 2 && isHostname(name) && !/^\d+$/.test(labels.at(-1) ?? '');
}

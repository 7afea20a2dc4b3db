import { encodeText } from './form.ts';
import type { Refuse, Values } from './form.ts';

/** Fills the parameters of a path: `/vm/{vmid}`. */
export function fillPath(template: string, path: Values, refuse: Refuse): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name];
    const text = typeof value === 'string' || Number.isSafeInteger(value) ? encodeText(String(value)) : undefined;
    // A dot segment would be another path.
    if (text === undefined || text === '' || /^\.+$/.test(text)) {
      refuse(name, 'type', 'must be an identifier: a text that is not empty, or a whole number');
      return '';
    }
    return text;
  });
}

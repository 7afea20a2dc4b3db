/** Where the focus of a dialog begins: its first field, or the button that changes nothing. A field would open the keyboard of a telephone. */
export function firstControl(dialog: HTMLElement | null): HTMLElement | null {
  if (globalThis.matchMedia('(pointer: coarse)').matches) return null;
  return dialog?.querySelector<HTMLElement>('input, select, textarea') ?? dialog?.querySelector<HTMLElement>('[data-cancel]') ?? null;
}

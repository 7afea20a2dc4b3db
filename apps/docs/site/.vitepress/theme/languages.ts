/** Remembers the language of the samples that a reader chose, and shows it on each page. */
const KEY = 'language-of-samples';

function labelOf(tab: HTMLInputElement): string {
  return tab.nextElementSibling?.textContent?.trim() ?? '';
}

function tabs(): HTMLInputElement[] {
  return [...document.querySelectorAll<HTMLInputElement>('.vp-code-group .tabs input')];
}

/** Chooses the remembered language. VitePress shows the code when the tab changes. */
export function showLanguage(): void {
  const language = localStorage.getItem(KEY);
  for (const tab of tabs()) if (!tab.checked && labelOf(tab) === language) tab.click();
}

export function rememberLanguage(): void {
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.closest('.vp-code-group .tabs') !== null) localStorage.setItem(KEY, labelOf(target));
  });
}

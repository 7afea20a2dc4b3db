/** Searches the text of findings and operations. Without JavaScript the field stays hidden, but the filters still work. */
export const SEARCH_SCRIPT = `
const field = document.querySelector('.filters input');
const form = field.form;
const shown = form.querySelector('output');
const parts = [...document.querySelectorAll('.finding, .covered')].map((part) => [part, part.textContent.toLowerCase()]);
function search() {
  const words = field.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  for (const [part, text] of parts) part.classList.toggle('unfound', !words.every((word) => text.includes(word)));
  const found = document.querySelectorAll('.finding:not(.unfound)').length;
  shown.textContent = words.length === 0 ? '' : found + (found === 1 ? ' finding has' : ' findings have') + ' this text';
}
field.parentElement.hidden = false;
field.addEventListener('input', search);
form.addEventListener('submit', (event) => event.preventDefault());
form.addEventListener('reset', () => setTimeout(search));
search();
`;

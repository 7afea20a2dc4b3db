/** The style sheet of the HTML report. It loads no fonts or images. */
export const STYLE = `
:root { color-scheme: light dark; --text: #1d2430; --soft: #5b6575; --line: #dde2ea; --back: #f6f7f9; --card: #fff; --violation: #c02c38; --learned: #9a6200; --discovered: #1769aa; --unverified: #66707f; --passed: #1c7c45; }
@media screen and (prefers-color-scheme: dark) { :root { --text: #e6e9ef; --soft: #9aa5b5; --line: #2f3744; --back: #14181f; --card: #1c222c; --violation: #ff7a85; --learned: #e5b15c; --discovered: #6fb7f0; --unverified: #a0a9b8; --passed: #5fce8e; } }
* { box-sizing: border-box; overflow-wrap: anywhere; }
/* Right-to-left text of a service does not affect the order of the text next to it. */
b, code, summary > span, .row span { unicode-bidi: isolate; }
/* Shows consecutive spaces. */
b, code, td, li { white-space: pre-wrap; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; } @media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.25rem 5rem; background: var(--back); color: var(--text); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { margin: 2.5rem 0 .75rem; font-size: 1.25rem; }
h3 { margin: 1rem 0 .25rem; font-size: 1rem; font-weight: 600; } h3 .soft { font-weight: 400; } p { margin: .35rem 0; } .said { font-size: 1.1rem; max-width: 60ch; margin: .75rem 0; }
a { color: var(--discovered); } nav a { margin-right: 1rem; } a:focus-visible, summary:focus-visible, select:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--discovered); outline-offset: 2px; border-radius: .3rem; }
.skip { position: absolute; left: -99rem; } .skip:focus { position: static; }
 .soft { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; } pre { white-space: pre-wrap; padding: .75rem; background: var(--back); border-radius: .4rem; margin: .5rem 0; }
.verdict { display: inline-block; padding: .1rem .6rem; border-radius: 1rem; font-size: .85rem; font-weight: 600; color: var(--card); background: var(--unverified); }
.verdict.violation, .verdict.failed { background: var(--violation); } .verdict.learned { background: var(--learned); } .verdict.discovered { background: var(--discovered); } .verdict.passed { background: var(--passed); }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: 1rem 0; } .filters label { color: var(--soft); } .filters label { min-width: 0; max-width: 100%; } .filters :is(select, input) { width: 15rem; } .filters :is(select, input, button) { font: inherit; font-size: .85rem; max-width: 100%; padding: .3rem .5rem; color: var(--text); background: var(--card); border: 1px solid var(--soft); border-radius: .4rem; }
.unfound, .group:not(:has(.finding:not(.unfound))) { display: none; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.figure, details, .note { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
.figure { padding: .7rem .9rem; } .figure b { display: block; font-size: 1.45rem; } .figure span { color: var(--soft); font-size: .85rem; }
.note { padding: .75rem 1rem; margin: .75rem 0; }
details { margin: .5rem 0; } summary { cursor: pointer; padding: .65rem .9rem; } details > div { padding: 0 .9rem .9rem; scroll-margin-top: 4rem; }
.row { display: grid; grid-template-columns: 8.5rem minmax(13rem, 1.3fr) minmax(10rem, 1.4fr) 12.5rem; gap: .25rem 1rem; align-items: start; list-style: none; } .row::-webkit-details-marker { display: none; } 
.row > :first-child::before { content: '\\25B8\\00a0' / ''; } details[open] > .row > :first-child::before { content: '\\25BE\\00a0' / ''; }
details[open] > .row { border-bottom: 1px solid var(--line); margin-bottom: .75rem; } .row:hover { background: var(--back); border-radius: .5rem; }
@media (max-width: 55rem) { .row { grid-template-columns: 1fr; } }
/* In print, all details are open. */
@media print { :root { color-scheme: light; } body { max-width: none; } nav, .skip, .filters { display: none; } details::details-content { content-visibility: visible; } }
table { border-collapse: collapse; width: 100%; font-size: .9rem; background: var(--card); } th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: 600; overflow-wrap: normal; } th[scope] { width: 8.5rem; }
.framed { border: 1px solid var(--line); border-radius: .5rem; } .framed td:first-child { overflow-wrap: normal; }
@media (max-width: 24rem) { th, td { padding: .4rem .3rem; } th[scope] { width: 5rem; } }
.bar { display: inline-block; width: 6rem; height: .5rem; border-radius: .25rem; background: var(--line); overflow: hidden; vertical-align: middle; } .bar i { display: block; height: 100%; background: var(--passed); }
.seen { color: var(--passed); } .unseen { color: var(--soft); } .undescribed { color: var(--discovered); font-weight: 600; text-decoration: underline; } span.seen { font-weight: 700; }
li.seen::before { content: '\\2713\\00a0'; } li.unseen::before { content: '\\2013\\00a0'; }
.add { color: var(--passed); } .remove { color: var(--violation); }
ul { margin: .35rem 0; padding-left: 1.25rem; } .columns { columns: 18rem; font: 13px/1.6 ui-monospace, monospace; list-style: none; padding: 0; }
`;

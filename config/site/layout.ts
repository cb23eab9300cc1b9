/** What stands around each page: the list of all pages, the search, and the page's headings. */
import { from, urlOf, type Page } from './pages.ts'

export interface Heading {
  anchor: string
  words: string
}

export interface PageParts {
  page: Page
  pages: readonly Page[]
  /** Second headings of the page. */
  headings: readonly Heading[]
  /** The page, as HTML. */
  content: string
}

/** Nothing comes from another origin; the search is WebAssembly. */
const POLICY =
  "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
  "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'"

export function wholePage(parts: PageParts): string {
  const { page, content } = parts
  const to = (url: string): string => from(page.path, url)
  const title = page.path === 'README.md' ? 'Postern' : `${nameOf(page)} · Postern`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${to('pagefind/pagefind-ui.css')}">
<link rel="stylesheet" href="${to('style.css')}">
<script src="${to('pagefind/pagefind-ui.js')}" defer></script>
<script src="${to('search.js')}" defer></script>
</head>
<body>
<a class="skip" href="#content">To the page</a>
<header><a href="${to('')}">Postern</a><div id="search"></div></header>
<div class="columns">
<nav aria-label="Pages"><details open><summary>Pages</summary>${navigation(parts)}</details></nav>
<main id="content" data-pagefind-body>
${content}
</main>
</div>
</body>
</html>
`
}

/** Groups of pages, by their first folder. */
const GROUPS = new Map([
  ['config', 'Running it'],
  ['src', 'What it does, and how'],
  ['test', 'Tests and measurements'],
])

function navigation({ page, pages, headings }: PageParts): string {
  const own = headings.map(({ anchor, words }) => `<li><a href="#${anchor}">${words}</a></li>`)
  const inside = `<ol>${own.join('')}</ol>`
  let last: string | undefined
  const items = pages.map((one) => {
    const [folder = ''] = one.path.split('/')
    const group = folder === last ? undefined : GROUPS.get(folder)
    last = folder
    const isHere = one.path === page.path
    const url = from(page.path, urlOf(one.path))
    const link = `<a href="${url}"${isHere ? ' aria-current="page"' : ''}>${escaped(nameOf(one))}</a>`
    const heading = group === undefined ? '' : `<li class="group">${group}</li>`
    return `${heading}<li>${link}${isHere ? inside : ''}</li>`
  })
  return `<ol>${items.join('\n')}</ol>`
}

/** The first heading. */
function nameOf({ path, text }: Page): string {
  const [, heading = path] = /^# (.+)$/m.exec(text) ?? []
  return heading.replaceAll('`', '')
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

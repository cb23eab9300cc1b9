/**
 * Makes a static site of all pages, with a search, and checks every link and anchor in it:
 *
 *     npm run site -- --out DIR
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import Generator, { type Markdown, type MarkdownToken } from '@11ty/eleventy'
import * as pagefind from 'pagefind'
import { anchorOf, numbered } from './site/markdown.ts'
import { wholePage, type Heading } from './site/layout.ts'
import { from, listings, placeOf, readPages, ROOT, targetOf, urlOf } from './site/pages.ts'

const FILES = join(ROOT, 'config/site/files')

/** The data of a page in the generator. */
interface PageData {
  /** `Page.path`. */
  source: string
}

/**
 * @param out a folder that is not there, or was made by this
 * @returns the number of pages, and the links of the site that lead nowhere, each with its page
 * @throws Error for another folder
 */
export async function makeSite(out: string): Promise<{ pages: number; dead: string[] }> {
  if (existsSync(out) && !existsSync(join(out, 'pagefind'))) throw new Error(`${out} is no site`)
  rmSync(out, { recursive: true, force: true })
  const pages = readPages()
  const all = [...pages, ...listings(pages)]
  const headings = new Map<string, Heading[]>()
  const files = new Set<string>()
  const linkOf = (page: string, link: string): string => {
    const target = targetOf(page, link)
    if (target === null) return link
    if (target.path === page) return target.anchor
    const place = placeOf(target.path)
    if (place.endsWith('.txt')) files.add(target.path)
    return from(page, place) + target.anchor
  }
  const generator = new Generator(FILES, out, {
    quietMode: true,
    config(config) {
      config.setTemplateFormats(['md'])
      for (const { path, text } of all) {
        const permalink = `${urlOf(path)}index.html`
        config.addTemplate(path, text, { permalink, source: path, layout: 'page.11ty.js' })
      }
      config.addTemplate('_includes/page.11ty.js', (data: PageData & { content: string }) => {
        const { source, content } = data
        const page = all.find(({ path }) => path === source) ?? { path: source, text: '' }
        return wholePage({ page, pages, content, headings: headings.get(source) ?? [] })
      })
      config.amendLibrary('md', (md) => {
        md.core.ruler.push('links', ({ tokens, env }) => {
          headings.set(env.source, anchorsIn(tokens, md))
          for (const child of tokens.flatMap(({ children }) => children ?? [])) {
            const link = child.attrGet('href')
            if (link !== null) child.attrSet('href', linkOf(env.source, decodeURI(link)))
          }
        })
        md.renderer.rules['table_open'] = () => '<div class="table"><table>'
        md.renderer.rules['table_close'] = () => '</table></div>'
      })
      return { markdownTemplateEngine: false }
    },
  })
  generator.disableLogger()
  await generator.write()
  for (const name of ['style.css', 'search.js']) copyFileSync(join(FILES, name), join(out, name))
  for (const file of files) copyAsText(file, out)
  await makeIndex(out)
  const places = all.map(({ path }) => `${urlOf(path)}index.html`)
  return { pages: all.length, dead: deadLinks(out, places) }
}

/** Gives each heading its anchor. @returns the second headings */
function anchorsIn(tokens: MarkdownToken[], md: Markdown): Heading[] {
  const number = numbered()
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return []
    const words = (tokens[index + 1]?.children ?? []).map(({ content }) => content).join('')
    const anchor = number(anchorOf(words))
    token.attrSet('id', anchor)
    return token.tag === 'h2' ? [{ anchor, words: md.utils.escapeHtml(words) }] : []
  })
}

/** A file that is not there, or not of the repository, is found as a dead link. */
function copyAsText(file: string, out: string): void {
  if (file.startsWith('..') || !existsSync(join(ROOT, file))) return
  const place = join(out, placeOf(file))
  mkdirSync(dirname(place), { recursive: true })
  copyFileSync(join(ROOT, file), place)
}

async function makeIndex(out: string): Promise<void> {
  const { index, errors } = await pagefind.createIndex()
  if (index === undefined) throw new Error(errors.join('\n'))
  await index.addDirectory({ path: out })
  await index.writeFiles({ outputPath: join(out, 'pagefind') })
  await pagefind.close()
}

/** Of every page: links to what is not in the site, and anchors that are not in their page. */
export function deadLinks(out: string, places: readonly string[]): string[] {
  const html = new Map(places.map((place) => [place, readFileSync(join(out, place), 'utf8')]))
  return [...html].flatMap(([place, text]) =>
    [...text.matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return []
      const [path = '', anchor] = link.split('#')
      const file = normalize(path === '' ? place : join(dirname(place), path))
      const whole = file.endsWith('/') || file === '.' ? join(file, 'index.html') : file
      const isThere = !whole.startsWith('..') && existsSync(join(out, whole))
      const isFound = anchor === undefined || html.get(whole)?.includes(` id="${anchor}"`) === true
      return isThere && isFound ? [] : [`${place}: ${link}`]
    }),
  )
}

if (import.meta.main) {
  const { out } = parseArgs({ options: { out: { type: 'string' } } }).values
  if (out === undefined) throw new Error('name a folder for it: npm run site -- --out DIR')
  const { pages, dead } = await makeSite(resolve(out))
  for (const link of dead) process.stderr.write(`this link leads nowhere: ${link}\n`)
  process.stdout.write(`${pages} pages in ${out}\n`)
  process.exitCode = dead.length === 0 ? 0 : 1
}

/** The pages of the site, and the place of everything that they link to. */
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { links } from './markdown.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Page {
  /** Of its source, from the root of the repository: `src/keys/README.md`. */
  path: string
  text: string
}

/** Every page of the documentation; the first page is the first one. */
export function readPages(): Page[] {
  const below = globSync('{src,test,config}/**/*.md', {
    cwd: ROOT,
    exclude: (name) => name === 'node_modules',
  })
  return ['README.md', ...below.toSorted(), 'CHANGELOG.md'].map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), 'utf8'),
  }))
}

/** Pages for folders that have none, and that pages link to: the files of each. */
export function listings(pages: readonly Page[]): Page[] {
  const folders = pages.flatMap(({ path, text }) =>
    links(text).flatMap((link) => {
      const target = targetOf(path, link)
      return target !== null && isBare(target.path) ? [target.path] : []
    }),
  )
  return [...new Set(folders)].map((folder) => {
    const inside = readdirSync(join(ROOT, folder), { withFileTypes: true })
    const files = inside.filter((one) => one.isFile()).map(({ name }) => name)
    const lines = files.toSorted().map((name) => `- [\`${name}\`](${name})`)
    return { path: join(folder, 'README.md'), text: `# ${folder}\n\n${lines.join('\n')}\n` }
  })
}

const isFolder = (path: string): boolean =>
  existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory()

const isBare = (path: string): boolean =>
  isFolder(path) && !existsSync(join(ROOT, path, 'README.md'))

/**
 * The url in the site, from its root, of a page, a folder or another file, of which the site has a
 * copy as text.
 * @param path from the root of the repository
 */
export function placeOf(path: string): string {
  if (isFolder(path)) return urlOf(join(path, 'README.md'))
  return path.endsWith('.md') ? urlOf(path) : `${path}.txt`
}

/** Of a page: its folder for a README.md, else a folder of its name. */
export function urlOf(path: string): string {
  const folder = path.endsWith('README.md') ? dirname(path) : path.replace(/\.md$/, '')
  return folder === '.' ? '' : `${folder}/`
}

/** What a link of a page leads to, from the root of the repository; null for a place outside. */
export function targetOf(from: string, link: string): { path: string; anchor: string } | null {
  if (/^[a-z]+:/.test(link)) return null
  const [target = '', anchor] = link.split('#')
  const path = target === '' ? from : normalize(join(dirname(from), target))
  return { path: path.replace(/\/$/, ''), anchor: anchor === undefined ? '' : `#${anchor}` }
}

/** A url of the site as a page of it names it, so that the site can be anywhere. */
export function from(page: string, url: string): string {
  const path = relative(`/${urlOf(page)}`, `/${url}`)
  return url === '' || url.endsWith('/') ? `${path || '.'}/` : path
}

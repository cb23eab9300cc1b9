/** Every file that a page names is there, and every page can be found; site.test.ts tries links. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPages, type Page } from '../support/readme-tables.ts'
import { links } from './markdown.ts'

const pages = readPages()
const isOutside = (target: string): boolean => /^[a-z]+:/.test(target)

/** The file or folder that a link leads to. */
const fileOf = (from: string, target: string): string =>
  normalize(join(dirname(from), target.replace(/#.*$/, '')))

/** The page that a link leads to: a folder's page for the folder. */
function pageOf(from: string, target: string): string {
  if (target.startsWith('#')) return from
  const file = fileOf(from, target)
  return existsSync(file) && statSync(file).isDirectory() ? join(file, 'README.md') : file
}

/** Files of users, containers and runs, and one that an example would add. */
const OF_OTHERS = new Set([
  'my-bot.mjs',
  '/app/dist/sbom.cdx.json',
  'database.json',
  'msg.txt',
  'postern.yaml',
  'config/postern.yaml',
  'crypto/x448.ts',
])
const isFile = (name: string): boolean =>
  /^[\w./-]+\.(?:c?js|css|html|json|md|mjs|sh|ts|txt|ya?ml)$/.test(name)

describe.each(pages)('$path', ({ path, text }) => {
  it('every file that the page names in back-ticks exists, and a link leads to the named one', () => {
    const linked = [...text.matchAll(/\[`([^`]+)`\]\(([^)#\s]+)/g)].filter(([, name = '']) =>
      isFile(name),
    )
    const wrong = linked.filter(
      ([, name = '', target = '']) =>
        !isOutside(target) && !`/${fileOf(path, target)}`.endsWith(`/${name}`),
    )
    expect(wrong.map(([link]) => link)).toEqual([])
    const rest = text.replaceAll(/^```[^]*?^```|\[[^\]]*\]\([^)]*\)/gm, '')
    const names = [...rest.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name).filter(isFile)
    const places = [dirname(path), '.', 'src', 'test', 'config/examples']
    expect(
      names.filter(
        (name) => !OF_OTHERS.has(name) && !places.some((place) => existsSync(join(place, name))),
      ),
    ).toEqual([])
  })

  it('the page is at most 20 kB, and the first page 14 kB', () => {
    const kilobytes = path === 'README.md' ? 14 : 20
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(kilobytes * 1000)
  })
})

/** The pages that a page links to. */
const linkedFrom = ({ path, text }: Page): string[] =>
  links(text).flatMap((target) => (isOutside(target) ? [] : [pageOf(path, target)]))

it('every page is reached from the first page', () => {
  const [first = { path: '', text: '' }, ...others] = pages
  const reached = new Set(linkedFrom(first))
  for (const page of others) {
    if (!reached.has(page.path)) continue
    const inside = linkedFrom(page).filter((path) => path.startsWith(`${dirname(page.path)}/`))
    for (const path of inside) reached.add(path)
  }
  expect(others.length).toBeGreaterThan(10)
  expect(others.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([])
})

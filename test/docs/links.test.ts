/** Every file that a page names is there, and every page can be found; site.test.ts tries links. */
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { links } from '../../config/site/markdown.ts'
import { targetOf } from '../../config/site/pages.ts'
import { readPages, type Page } from '../support/readme-tables.ts'

const pages = readPages()

/** The page that a link leads to: a folder's page for the folder. */
const pageOf = (path: string): string =>
  existsSync(path) && statSync(path).isDirectory() ? join(path, 'README.md') : path

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
        !`/${targetOf(path, target)?.path ?? name}`.endsWith(`/${name}`),
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
  links(text)
    .flatMap((target) => targetOf(path, target)?.path ?? [])
    .map(pageOf)

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

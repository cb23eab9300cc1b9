import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { deadLinks, makeSite } from '../../config/site.ts'
import { readPages } from '../../config/site/pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'site-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the site has every page, no dead link, and nothing from another origin', async () => {
  const out = join(folder, 'site')
  const { pages, dead } = await makeSite(out)
  expect(dead).toEqual([])
  expect(pages).toBeGreaterThanOrEqual(readPages().length)
  const read = (path: string): string => readFileSync(join(out, path), 'utf8')
  expect(read('src/keys/index.html')).toMatch(/<h2 id="rotation"[^]*"..\/store\/#/)
  const loaded = read('src/keys/index.html').matchAll(
    /<(?:script|link)[^>]* (?:src|href)="([^"]*)"/g,
  )
  expect([...loaded].filter(([, url = '']) => /^(?!data:)[a-z]*:|^\//.test(url))).toEqual([])
  expect(JSON.parse(read('pagefind/pagefind-entry.json'))).toMatchObject({ languages: { en: {} } })
})

test('a link and an anchor that lead nowhere are found', () => {
  const html = '<h1 id="one"><a href="#one"><a href="#none"><a href="gone.ts.txt"><a href="../up/">'
  const out = join(folder, 'dead')
  mkdirSync(join(folder, 'up'))
  mkdirSync(out)
  writeFileSync(join(folder, 'up/index.html'), html)
  writeFileSync(join(out, 'index.html'), html)
  expect(deadLinks(out, ['index.html'])).toEqual(
    ['#none', 'gone.ts.txt', '../up/'].map((link) => `index.html: ${link}`),
  )
})

test('a folder that is no site is refused and stays', async () => {
  const other = join(folder, 'other')
  mkdirSync(join(other, 'kept'), { recursive: true })
  await expect(makeSite(other)).rejects.toThrow('is no site')
  mkdirSync(join(other, 'kept', 'inside'))
})

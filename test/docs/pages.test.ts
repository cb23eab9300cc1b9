/** What the documentation says of the code: its tables, commands, files and endpoints. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { createFullProgram } from '../../src/cli/program.ts'
import { readPages, TABLES, tablesIn, withTables } from '../support/readme-tables.ts'
import { anchorOf, headings } from '../../config/site/markdown.ts'

const pages = readPages()
const everything = pages.map(({ text }) => text).join('\n')
const readme = pages[0]?.text ?? ''

describe('pages of the documentation', () => {
  it('the generated tables of the pages are those of the code', async () => {
    for (const { text } of pages) expect(await withTables(text)).toBe(text)
  })

  it('each generated table is on one page', () => {
    const named = pages.flatMap(({ text }) => tablesIn(text))
    expect(named.toSorted()).toEqual(Object.keys(TABLES).toSorted())
  })

  it('a warning of the first publication precedes the first command that makes it', () => {
    const examples = globSync(
      'config/examples/{compose,kubernetes,postern,several}*.{yaml,service}',
    )
    const files = ['README.md', 'src/cli/README.md', 'src/http/README.md', ...examples]
    const start =
      /postern(?:\.cjs)?(?: --)? (?:run|init)\b(?!`)|compose (?!-f sandbox).*up -d|systemctl enable|^kind: (?:Job|Deployment|StatefulSet)/m
    const bare = files.filter((file) => {
      const text = readFileSync(file, 'utf8').replace(/<!-- table [^]*?<!-- end -->/g, '')
      const at = text.search(start)
      return at >= 0 && !/encrypted\s+(?:# )?for\s+(?:# )?good|for good/.test(text.slice(0, at))
    })
    expect(bare).toEqual([])
  })

  it('the first screen names our own OpenPGP, its check, and the setting without it', () => {
    const screen = readme.split('\n').slice(0, 24).join('\n')
    for (const word of ['code of our own', 'openpgp.js', '`openpgp.engine: library`']) {
      expect(screen).toContain(word)
    }
  })

  it('the division of work on PostgreSQL is on one page alone', () => {
    const [page = ''] = pages
      .filter(({ path }) => path === 'src/config/README.md')
      .map(({ text }) => text)
    const [, section = ''] = page.split('### Several bots on one database')
    expect(section).toContain('(../store/postgres/README.md#several-sidecars-of-one-bot)')
    expect(section.split('\n##')[0]).not.toMatch(/\blocks\b|every second|acquires no/i)
  })

  it('the pages name only scripts of package.json', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }
    const named = [...everything.matchAll(/npm run (?:-s )?([a-z:]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !(String(name) in manifest.scripts))).toEqual([])
  })

  it('the pages name only existing commands', async () => {
    const known = new Map(
      (await createFullProgram()).commands.map((command) => [
        command.name(),
        command.commands.map((inner) => inner.name()),
      ]),
    )
    const examples = /^ *```(?!sh\b)\w+\n[^]*?^ *```$/gm
    const code = [
      ...everything.replace(examples, '').matchAll(/`([^`\n]+)`/g),
      ...everything.matchAll(/^ *```sh\n([^]*?)^ *```$/gm),
    ]
    const named = code.flatMap(([, text]) => [
      ...String(text).matchAll(/\bpostern (?:-- )?([a-z]+)(?: ([a-z][a-z-]*))?/g),
    ])
    expect(named.length).toBeGreaterThan(50)
    const wrong = named.filter(([, command = '', inner = '']) => {
      const under = known.get(command)
      return under === undefined || (under.length > 0 && inner !== '' && !under.includes(inner))
    })
    expect(wrong.map(([text]) => text)).toEqual([])
  })

  it.each(pages)('the page $path names only existing files', ({ path: page, text }) => {
    const named = [...text.matchAll(/`((?:src|test|config)\/[A-Za-z0-9/._-]+)`/g)]
    const own = 'config/postern.yaml'
    const isThere = (path: string) => existsSync(path) || existsSync(join(dirname(page), path))
    const missing = named.filter(([, path]) => path !== own && !isThere(String(path)))
    expect(missing.map(([, path]) => path)).toEqual([])
  })

  it('the README of http describes every endpoint of the service', () => {
    const door = pages.find(({ path }) => path === 'src/http/README.md')?.text ?? ''
    const silent = ENDPOINTS.filter(
      ({ method, path }) => !door.includes(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })
})

it('the contents of the first page list every chapter in order', () => {
  const contents = readme.slice(0, readme.indexOf('\n## '))
  const chapters = headings(readme, 2).filter((heading) => readme.includes(`\n## ${heading}\n`))
  expect(chapters.length).toBeGreaterThan(5)
  const places = chapters.map((chapter) => contents.indexOf(`[${chapter}](#${anchorOf(chapter)})`))
  expect(places).not.toContain(-1)
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

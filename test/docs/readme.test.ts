import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { createFullProgram } from '../../src/cli/program.ts'
import { readReadme, withTables } from '../support/readme-tables.ts'

const readme = readReadme()

/** A heading as code hosts link to it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')

/** What stands in fenced blocks of a language. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(([, name, text]) =>
    name === language ? [String(text)] : [],
  )

describe('the README', () => {
  it('has the tables that the code has', () => {
    expect(withTables(readme)).toBe(readme)
  })

  it('names only scripts that package.json has', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }
    const named = [...readme.matchAll(/npm run (?:-s )?([a-z:]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter((name) => !(String(name) in manifest.scripts))).toEqual([])
  })

  it('names only commands that there are', async () => {
    const known = new Map(
      (await createFullProgram()).commands.map((command) => [
        command.name(),
        command.commands.map((inner) => inner.name()),
      ]),
    )
    const code = [...readme.matchAll(/`([^`\n]+)`/g), ...readme.matchAll(/^```sh\n([^]*?)^```$/gm)]
    const named = code.flatMap(([, text]) => [
      ...String(text).matchAll(/\bpostern (?:-- )?([a-z]+)(?: ([a-z-]+))?/g),
    ])
    expect(named.length).toBeGreaterThan(50)
    const wrong = named.filter(([, command = '', inner = '']) => {
      const under = known.get(command)
      return under === undefined || (under.length > 0 && inner !== '' && !under.includes(inner))
    })
    expect(wrong.map(([text]) => text)).toEqual([])
  })

  it('names only files that are there', () => {
    const named = [...readme.matchAll(/`((?:src|test|config)\/[A-Za-z0-9/._-]+)`/g)]
    const own = 'config/postern.yaml'
    const missing = named.filter(([, path]) => path !== own && !existsSync(String(path)))
    expect(missing.map(([, path]) => path)).toEqual([])
  })

  const headings = [...readme.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => String(heading))
  const linked = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => String(target))

  it('leads to chapters and files that are there', () => {
    const anchors = new Set(headings.map((heading) => `#${anchorOf(heading)}`))
    expect(linked.filter((to) => to.startsWith('#') && !anchors.has(to))).toEqual([])
    const files = linked.filter((to) => !/^(?:#|https?:)/.test(to))
    expect(files.length).toBeGreaterThan(5)
    expect(files.filter((to) => !existsSync(to))).toEqual([])
  })

  it('names every chapter among its contents, in their order', () => {
    const contents = readme.slice(0, readme.indexOf('\n## '))
    const chapters = [...readme.matchAll(/^## (.+)$/gm)].map(([, heading]) => String(heading))
    const places = chapters.map((chapter) =>
      contents.indexOf(`[${chapter}](#${anchorOf(chapter)})`),
    )
    expect(places).not.toContain(-1)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  })

  it('has one picture of how it works, whole on a screen and with no broken line', () => {
    const [picture = '', ...others] = blocks('text').filter((block) => block.includes('┌'))
    expect(others).toEqual([])
    const lines = picture.trimEnd().split('\n').slice(1)
    expect(lines.length).toBeGreaterThan(10)
    for (const line of lines) {
      expect(line).toMatch(/^[┌│└].*[┐│┘]$/)
      expect([59, 94]).toContain(line.length)
    }
    for (const word of ['bot', 'guard', 'seal', 'open', 'verdict', 'dataDir', ':8700', ':8701']) {
      expect(picture).toContain(word)
    }
  })

  it('says of every endpoint of the service what becomes of it', () => {
    const silent = ENDPOINTS.filter(
      ({ method, path }) => !readme.includes(`${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    )
    expect(silent.map(({ name }) => name)).toEqual([])
  })
})

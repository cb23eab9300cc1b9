import { symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { load } from '../../src/config/load.ts'
import { file, folder, refusalOf, sources } from './support.ts'

function reading(text: string) {
  const cwd = folder()
  return sources({ cwd, configFlag: file(cwd, 'a.yaml', text) })
}

test.each([
  ['an empty file', ''],
  ['comments alone', '# nothing\n'],
  ['an empty group', 'listen:\n'],
  ['a byte order mark', '\uFEFFlisten: {}\n'],
])('a settings file with %s is accepted', (_name, text) => {
  expect(load(reading(text)).settings.listen.port).toBe(8700)
})

test.each([
  ['a list', '- 1\n', 'a.yaml:1:1: expected a group of settings'],
  ['a word', 'upstream\n', 'a.yaml:1:1: expected a group of settings'],
  ['a repeated key', 'dataDir: a\ndataDir: b\n', 'a.yaml:2:1: is not YAML (duplicate key)'],
  ['two documents', 'dataDir: a\n---\ndataDir: b\n', 'is not YAML (multiple docs)'],
  ['a tag', 'dataDir: !!js/function "x"\n', 'is not YAML (tag resolve failed)'],
  ['a tab for indentation', 'listen:\n\tport: 1\n', 'is not YAML'],
  ['an alias', 'dataDir: &a x\nreadableGroups: *a\n', 'a.yaml:2:17 readableGroups: aliases are'],
  ['an alias for a group', 'log: &a {}\nlisten: *a\n', 'a.yaml:2:9 listen: aliases are not taken'],
  ['an alias in a list', 'dataDir: &a x\nlisten: {allowedHosts: [*a]}\n', 'aliases are not taken'],
  ['a group in place of a value', 'dataDir: {a: 1}\n', 'dataDir: expected the path of a folder'],
  ['a value in place of a group', 'listen: 8700\n', 'listen: expected a group of settings'],
  ['an empty value', 'dataDir:\n', 'dataDir: expected the path of a folder'],
  ['a merge key', '<<: {dataDir: x}\n', '<<: no such setting'],
  ['a number in place of text', 'dataDir: 7\n', 'dataDir: expected the path of a folder'],
  ['yes in place of true', 'key: {publish: yes}\n', 'key.publish: expected true or false'],
  ['a group in a list of texts', 'listen: {allowedHosts: [{}]}\n', 'expected a list of host names'],
  ['an alias in a list of groups', 'dataDir: &a x\nclients: {list: [{name: *a}]}\n', 'aliases are'],
  ['a key of the prototype', '__proto__: {x: 1}\n', '__proto__: no such setting'],
])('a settings file with %s is refused', (_name, text, message) => {
  expect(refusalOf(() => load(reading(text))).message).toContain(message)
})

test('a settings file with nested aliases is refused without their expansion', () => {
  const bomb = Array.from({ length: 30 }, (_, n) =>
    n === 0 ? 'a0: &a0 [x, x]' : `a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`,
  )
  const error = refusalOf(() => load(reading(bomb.join('\n'))))
  expect(error.message).toContain('a29: no such setting')
})

test('a settings file with endless brackets is refused', () => {
  const error = refusalOf(() => load(reading(`dataDir: ${'['.repeat(100_000)}`)))
  expect(error.message).toMatch(/nested too deep|is not YAML/)
})

test('the text of an unreadable line is not repeated in the message', () => {
  const error = refusalOf(() => load(reading('bot:\n  token: "hunter2\n  x\n')))
  expect(error.message).toContain('a.yaml:')
  expect(error.message).not.toContain('hunter2')
})

test('a settings file over 1 MiB is refused', () => {
  const error = refusalOf(() => load(reading(`# ${'x'.repeat(1024 * 1024)}\n`)))
  expect(error.message).toContain('a.yaml: is larger than 1024 KiB')
})

test('a folder and a file that is not UTF-8 are refused as settings file', () => {
  const cwd = folder()
  expect(refusalOf(() => load(sources({ cwd, configFlag: '.' }))).message).toContain('is a folder')
  const configFlag = file(cwd, 'b.yaml', '')
  expect(load(sources({ cwd, configFlag })).settings.dataDir).toBe(`${cwd}/.postern`)
  const bytes = Buffer.from([0x64, 0xff, 0xfe])
  const latin = file(cwd, 'c.yaml', bytes as unknown as string)
  expect(refusalOf(() => load(sources({ cwd, configFlag: latin }))).message).toContain('not UTF-8')
})

test('a symbolic link to a settings file is read', () => {
  const cwd = folder()
  file(cwd, 'real.yaml', 'listen: {port: 5}\n')
  symlinkSync('real.yaml', `${cwd}/link.yaml`)
  expect(load(sources({ cwd, configFlag: 'link.yaml' })).settings.listen.port).toBe(5)
})

/** Each takes milliseconds; where each key was compared with each other, it took minutes. */
test.each([
  ['keys', (n: number) => Array.from({ length: n / 10 }, (_, at) => `k${at}:\n`).join('')],
  [
    'keys in braces',
    (n: number) => `{${Array.from({ length: n / 11 }, (_, at) => `k${at}: 1`).join()}}`,
  ],
  [
    'long keys',
    (n: number) => Array.from({ length: 4 }, (_, at) => `${at}${'k'.repeat(n / 5)}:\n`).join(''),
  ],
  ['one long key', (n: number) => `? ${'k'.repeat(n - 9)}\n`],
  ['entries of bots', (n: number) => `bots:\n${'- {}\n'.repeat(n / 6)}`],
  ['clients', (n: number) => `clients: {list: [${'{},'.repeat(n / 4)}]}\n`],
])(
  'a settings file with 300,000 characters of %s is refused without quadratic cost',
  (_name, make) => {
    const text = make(300_000)
    expect(text.length).toBeGreaterThan(200_000)
    const { message } = refusalOf(() => load(reading(text)))
    expect(message.split('\n').length).toBeLessThan(120)
  },
)

import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { load } from '../../src/config/load.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { settingsTemplate } from '../../src/config/template.ts'
import { ENOUGH, file, folder, sources } from './support.ts'

const NAMES = SETTINGS.map(({ path }) => path.split('.').at(-1) ?? '')

/** Turns a comment that holds a setting into that setting; other comments stay. */
const uncomment = (form: string) => (line: string, indent: string, name: string, rest: unknown) =>
  NAMES.includes(name)
    ? form
        .replace('$1', indent)
        .replace('$2', name)
        .replace('$3', () => String(rest))
    : line

/** Loads a text as the settings file. */
function loaded(text: string, env: Record<string, string>) {
  const cwd = folder()
  return load(sources({ cwd, env, configFlag: file(cwd, 'postern.yaml', text) }))
}

test('the template contains the chosen settings, quoted where YAML requires it', () => {
  const chosen = new Map<string, unknown>([
    ['upstream.url', 'https://chat.example.org'],
    ['dataDir', '/a folder: with "quotes" # and more'],
    ['listen.allowedHosts', ['postern', 'bot']],
    ['routes.allowUnknown', true],
    ['cache.chatSeconds', 0],
  ])
  const { origins, settings } = loaded(settingsTemplate(chosen, 'schema.json'), {
    POSTERN_BOT_TOKEN: ENOUGH.POSTERN_BOT_TOKEN,
    POSTERN_KEY_PASSPHRASE: ENOUGH.POSTERN_KEY_PASSPHRASE,
  })
  const fromFile = [...origins].filter(([, place]) => place.startsWith('postern.yaml:'))
  expect(fromFile.map(([path]) => path).toSorted()).toEqual([...chosen.keys()].toSorted())
  expect(settings).toMatchObject({
    dataDir: '/a folder: with "quotes" # and more',
    listen: { allowedHosts: ['postern', 'bot'] },
    routes: { allowUnknown: true },
    cache: { chatSeconds: 0 },
  })
})

test('the template contains every setting but the secrets, each with its meaning', () => {
  const text = settingsTemplate(new Map(), 'schema.json')
  const document = parseDocument(text.replace(/^( *)# (\w+):.*$/gm, uncomment('$1$2: 1')))
  for (const { path, kind, meaning } of SETTINGS) {
    expect([path, document.hasIn(path.split('.'))]).toEqual([path, kind !== 'secret'])
    if (kind !== 'secret') expect(text).toContain(`# ${meaning}\n`)
  }
})

test('the template contains the real defaults', () => {
  const text = settingsTemplate(new Map(), 'schema.json')
  const taken = text.replace(/^( *)# (\w+): (.+)$/gm, uncomment('$1$2: $3'))
  const { settings } = loaded(taken, ENOUGH)
  const usual = loaded('', ENOUGH).settings
  expect({ ...settings, dataDir: '' }).toEqual({ ...usual, dataDir: '' })
})

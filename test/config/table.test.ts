import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { load } from '../../src/config/load.ts'
import { Options } from '../../src/config/options.ts'
import { settingsSchema } from '../../src/config/template.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { file, folder, sources } from './support.ts'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

test('a secret setting is no flag and has a file setting', () => {
  for (const { path, flag } of SETTINGS.filter(({ kind }) => kind === 'secret')) {
    expect(flag).toBeNull()
    expect(SETTINGS.some((setting) => setting.path === `${path}File`)).toBe(true)
  }
})

test('config/postern.schema.json equals the output of `config schema`', () => {
  expect(read('config/postern.schema.json')).toBe(settingsSchema())
})

test('the example of a settings file is accepted and contains every setting', () => {
  const cwd = folder()
  const text = read('config/examples/postern.yaml').replaceAll('secrets/', '')
  const configFlag = file(cwd, 'postern.yaml', text)
  file(cwd, 'bot-token', 'bot_7.token\n')
  file(cwd, 'passphrase', 'words\n')
  expect(load(sources({ cwd, configFlag, env: {} })).settings.upstream.url).toContain('https://')

  const uncommented = text.replace(/^( *)# (\w+: *\S*)$/gm, '$1$2')
  const all = Options.parse(parse(uncommented)) as Record<string, unknown>
  for (const { path, kind } of SETTINGS) {
    if (kind === 'secret') continue
    const value = path
      .split('.')
      .reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], all)
    expect(uncommented, path).toContain(`${path.split('.').at(-1)}:`)
    expect(value, path).toBeDefined()
  }
})

test('the defaults in the example of a settings file are the real defaults', () => {
  const text = read('config/examples/postern.yaml')
  let group = ''
  for (const line of text.split('\n')) {
    const [, top] = /^(\w+):$/.exec(line) ?? []
    group = top ?? group
    const [, indent = '', name = '', value = ''] = /^( *)# (\w+): *(\S*)$/.exec(line) ?? []
    const path = indent === '' ? name : `${group}.${name}`
    const setting = SETTINGS.find((candidate) => candidate.path === path)
    if (setting?.preset !== undefined) expect(parse(value), path).toEqual(setting.preset)
  }
})

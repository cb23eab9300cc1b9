/** A settings file to start from: chosen settings, all others as comments; and its JSON schema. */
import { stringify } from 'yaml'
import { SETTINGS, type Setting } from './settings.ts'
import { z } from 'zod'
import { Options } from './options.ts'

const HEAD = `# Settings of Postern. What is commented out shows the default. Each setting can also be given in
# the environment (upstream.url is POSTERN_UPSTREAM_URL) or as a flag (--upstream-url).
# \`postern check\` says whether all of it works.`

/**
 * @param values the chosen settings, by dotted path
 * @param schema where the JSON schema is, as editors find it from the file
 * @returns YAML for `--config`, with files of secrets, never secrets themselves
 */
export function settingsTemplate(values: ReadonlyMap<string, unknown>, schema: string): string {
  const parts = [`# yaml-language-server: $schema=${schema}\n${HEAD}`]
  let group = ''
  for (const setting of SETTINGS) {
    if (setting.kind === 'secret') continue
    const [name = '', inner] = setting.path.split('.')
    if (name !== group) parts.push(inner === undefined ? '' : `\n${name}:`)
    group = name
    parts.push(entry(setting, values))
  }
  return `${parts.join('\n')}\n`
}

/**
 * The file of one of several bots.
 * @param values the bot's own settings, by path; secrets only as files
 */
export const botEntry = (values: Readonly<Record<string, unknown>>): string =>
  `# What is not here is for this bot as for all.\n${stringify(values)}`

/** A setting with its meaning, indented within a group. */
function entry({ path, meaning, preset }: Setting, values: ReadonlyMap<string, unknown>): string {
  const [first = '', inner] = path.split('.')
  const indent = inner === undefined ? '' : '  '
  const given = values.get(path)
  const value = given ?? preset
  const text = value === undefined ? '' : ` ${asYaml(value)}`
  const mark = given === undefined ? '# ' : ''
  return `${indent}# ${meaning}\n${indent}${mark}${inner ?? first}:${text}`
}

const LINE_CHARS = 100

/** A value on one line. */
export const asYaml = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()

/**
 * Makes the schema of the settings file, for editors.
 * @returns JSON Schema (draft 2020-12) as text; config/postern.schema.json holds the same
 */
export function settingsSchema(): string {
  const schema = z.toJSONSchema(Options, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // What the file lacks may be given by the environment or by flags.
      delete jsonSchema.required
      if (jsonSchema.type === 'object') delete jsonSchema.default
    },
  })
  const text = JSON.stringify({ title: 'Postern settings', ...schema }, null, 2)
  // Lists of words are on one line where they fit, as the formatter of this repository writes them.
  return `${text.replace(/\[\s+([^[\]{}]*?)\s+\]/g, (all, words: string, at: number) => {
    const line = `[${words.replace(/\s+/g, ' ')}]`
    return at - text.lastIndexOf('\n', at) + line.length > LINE_CHARS ? all : line
  })}\n`
}

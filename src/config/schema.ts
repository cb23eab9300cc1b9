/** The JSON schema of the settings file, for editors. */
import { z } from 'zod'
import { Options } from './options.ts'

/**
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
  // Lists of words on one line, as the formatter of this repository writes them.
  return `${text.replace(/\[\s+([^[\]{}]*?)\s+\]/g, (_, words: string) => `[${words.replace(/\s+/g, ' ')}]`)}\n`
}

/** Kinds of settings: how each is validated, and the message when a value is refused. */
import { isIP } from 'node:net'
import { z } from 'zod'

/** How a setting is written where all is text, in the environment and in flags; `entries` is not. */
export type Kind = 'text' | 'number' | 'boolean' | 'list' | 'path' | 'secret' | 'entries'

/** A schema's kind of setting, and the expected form for messages. */
export interface About {
  kind: Kind
  expected: string
  /** The values there are, when they can be listed. */
  choices?: readonly string[]
}

/** Kind and expectation of each setting's schema. */
export const abouts = z.registry<About>()

export function setting<T extends z.ZodType>(schema: T, about: About, meaning: string): T {
  const described = schema.describe(meaning)
  abouts.add(described, about)
  return described
}

/** Settings under a name of their own. */
export const group = <T extends z.core.$ZodShape>(shape: T) =>
  z.strictObject(shape).prefault({} as never)

export const flag = (preset: boolean, meaning: string) =>
  setting(z.boolean().default(preset), { kind: 'boolean', expected: 'true or false' }, meaning)

/** A list in the settings file. @param of its entries, each with a name of its own */
export const entries = <T extends z.ZodType<{ name: string }>>(
  entry: T,
  of: string,
  meaning: string,
) => {
  const list = z
    .array(entry)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
      error: 'expected each name once',
    })
  const about: About = { kind: 'entries', expected: `a list, in the settings file, of ${of}` }
  return setting(list.default([]), about, meaning)
}

const whole = (min: number, max: number, unit: string) => ({
  schema: z.int().min(min).max(max),
  about: {
    kind: 'number',
    expected: `a whole number from ${min} to ${max}${unit && ` (${unit})`}`,
  } satisfies About,
})

/** @param preset the first choice where it is not given */
export const choice = <const T extends readonly [string, ...string[]]>(
  choices: T,
  meaning: string,
  preset: T[number] = choices[0],
) =>
  setting(
    z.enum(choices).default(preset),
    { kind: 'text', expected: `one of ${choices.join(', ')}`, choices },
    meaning,
  )

export const path = (meaning: string, expected = 'the path of a file') =>
  setting(z.string().min(1).optional(), { kind: 'path', expected }, meaning)

export const secret = (meaning: string) =>
  setting(z.string().min(1).optional(), { kind: 'secret', expected: 'text' }, meaning)

export const host = (preset: string, meaning: string) =>
  setting(
    z.string().refine(isHost).default(preset),
    { kind: 'text', expected: 'an IP address or a host name' },
    meaning,
  )

export const port = (preset: number, meaning: string) => {
  const { schema, about } = whole(0, 65_535, '0 takes any free port')
  return setting(schema.default(preset), about, meaning)
}

export const hostList = z.array(z.string().refine(isHost))
export const hostListAbout: About = { kind: 'list', expected: 'a list of host names without port' }

export const days = (min: number) => whole(min, 36_500, 'days')
export const seconds = (preset: number, meaning: string) => {
  const { schema, about } = whole(0, 3600, 'seconds')
  return setting(schema.default(preset), about, meaning)
}

/** True for an IP address or a name that DNS could hold. */
function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 ||
    /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_-]+)*$/i.test(text)
  )
}

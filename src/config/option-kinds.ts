/** Kinds of settings: how each is validated, and the message when a value is refused. */
import { isIP } from 'node:net'
import { z } from 'zod'

/**
 * How a setting is written where all is text, in the environment and in flags; `entries` is not,
 * `command` is JSON.
 */
export type Kind =
  'text' | 'number' | 'boolean' | 'list' | 'path' | 'secret' | 'command' | 'entries'

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

/** The settings of a kind: those without a value when not set, and those with a default. */
const kindOf = <T extends z.ZodType>(schema: T, about: About) => ({
  optional: (meaning: string) => setting(schema.optional(), about, meaning),
  default: (preset: z.util.NoUndefined<z.output<T>>, meaning: string) =>
    setting(schema.default(preset), about, meaning),
})

export const boolean = kindOf(z.boolean(), { kind: 'boolean', expected: 'true or false' })
export const flag = boolean.default

const whole = (min: number, max: number, unit: string) =>
  kindOf(z.int().min(min).max(max), {
    kind: 'number',
    expected: `a whole number from ${min} to ${max} (${unit})`,
  })

export const port = whole(0, 65_535, '0 takes any free port').default
export const days = (min: number) => whole(min, 36_500, 'days')
export const seconds = whole(0, 3600, 'seconds').default

/** A list in the settings file. @param of its entries, each with a name of its own */
export const entries = <T extends z.ZodType<{ name: string }>>(
  entry: T,
  of: string,
  meaning: string,
) => {
  const hasNames = (all: { name: string }[]): boolean =>
    new Set(all.map(({ name }) => name)).size === all.length
  const list = z.array(entry).refine(hasNames, { error: 'expected each name once' })
  const about: About = { kind: 'entries', expected: `a list, in the settings file, of ${of}` }
  return setting(list.default([]), about, meaning)
}

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

/** A program and its arguments; no shell reads them. */
export const Command = z
  .array(z.string())
  .refine((argv) => argv[0] && !argv.some((one) => one.includes('\0')))

export const command = kindOf(Command, {
  kind: 'command',
  expected: 'a list of a program and its arguments',
}).optional

export const path = (meaning: string, expected = 'the path of a file') =>
  kindOf(z.string().min(1), { kind: 'path', expected }).optional(meaning)

export const secret = kindOf(z.string().min(1), { kind: 'secret', expected: 'text' }).optional

const Host = z.string().refine(isHost)

export const host = kindOf(Host, { kind: 'text', expected: 'an IP address or a host name' }).default

export const hostList = kindOf(z.array(Host), {
  kind: 'list',
  expected: 'a list of host names without port',
})

/** True for an IP address or a name that DNS could hold. */
function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 ||
    /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_-]+)*$/i.test(text)
  )
}

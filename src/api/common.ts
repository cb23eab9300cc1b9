import { z } from 'zod'

/** An identifier or count of the API: an integer that JSON and JavaScript both hold exactly. */
export const int = z.int()

/** `ts` of the spec: integer milliseconds since the Unix epoch. */
export const ts = z.int()

/** A field on which nothing is decided: absent, null or of another type, it is undefined or null. */
export const perhaps = <T extends z.ZodType>(schema: T) => schema.nullish().catch(undefined)

/** True for a JSON object, false for arrays, null and scalars. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first problem of a value, as "field: the expected form", for a `bad_request`. */
export function firstProblem(error: z.ZodError): string {
  const issue = error.issues[0]
  if (issue === undefined) return 'the body is wrong'
  if (issue.code === 'unrecognized_keys') return `${issue.keys[0]}: no such field`
  const path = issue.path.join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

/** An absolute http or https url without credentials (spec, Button and callback answer). */
export function isWebUrl(text: string): boolean {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return false
  const { username, password } = new URL(text)
  return username === '' && password === ''
}

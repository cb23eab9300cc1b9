/** The text form of a vector. README.md describes the fields. */
import { createHash } from 'node:crypto'

export const MAGIC = 'postern-vector 1'

const KINDS = ['message', 'certificate', 'chat'] as const
export type Kind = (typeof KINDS)[number]

export interface Vector {
  kind: Kind
  /** Fields in their order, without `kind`. */
  fields: [string, string][]
  body: string
}

/** SHA-256 of a text in UTF-8, in hex. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export function writeVector({ kind, fields, body }: Vector): string {
  const header = [['kind', kind], ...fields].map(([name, value]) => `${name}: ${value}`)
  return [MAGIC, ...header, '', body].join('\n')
}

/** @throws Error when the text is not in the form */
export function readVector(text: string): Vector {
  const end = text.indexOf('\n\n')
  const [magic, ...lines] = text.slice(0, end).split('\n')
  if (end === -1 || magic !== MAGIC) throw new Error('not a vector')
  const fields = lines.map((line): [string, string] => {
    const colon = line.indexOf(': ')
    if (!/^[a-z][a-z0-9-]*$/.test(line.slice(0, colon))) throw new Error(`bad field: ${line}`)
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  const [first, ...rest] = fields
  const kind = KINDS.find((one) => one === first?.[1])
  if (first?.[0] !== 'kind' || kind === undefined) throw new Error('bad kind')
  return { kind, fields: rest, body: text.slice(end + 2) }
}

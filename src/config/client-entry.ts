/** A client of the bot's door, as settings and commands describe it. */
import { z } from 'zod'
import { certificateCredential, tokenHashOf } from '../api/bot.ts'
import { OperatorError, operatorErrorOf } from '../errors.ts'
import { SecretSource } from './secrets.ts'

/** Every right, in the order in which they are listed. */
export const RIGHTS = ['read', 'send', 'edit', 'delete', 'answer', 'typing'] as const

/** Units of times in settings. */
const PER_MS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A time such as 90min in ms; its form is checked. */
export function msOf(time: string): number {
  const [, count, unit = ''] = /^(\d+)(\w+)$/.exec(time) ?? []
  return Number(count) * (PER_MS[unit] ?? 0)
}

/** Text of a form. @param expected what a refusal names */
export const textLike = (form: RegExp, expected: string) =>
  z.string().regex(form, { error: `expected ${expected}` })

/** The name of a client: it is a label of a metric and an argument. */
export const ClientName = textLike(
  /^[a-z0-9][a-z0-9-]{0,31}$/,
  'a name of a-z, 0-9 and -, at most 32 characters',
)

const RATE = /^([1-9]\d{0,5})\/(s|min|h|d)$/

/** Kinds of before: the service alone names the kind of a chat, so that nothing may rest on it. */
const KINDS: ReadonlySet<unknown> = new Set(['private', 'groups'])

const Chats = z.union([z.int(), z.literal('all')], {
  error: ({ input }) =>
    KINDS.has(input)
      ? `expected ids of chats or all: which chats are ${String(input)}, the service alone says; persons names private chats`
      : 'expected ids of chats, or all',
})

/** What a client may do, and nothing else; files and texts of any size are the defaults of two fields. */
export const ClientScopeEntry = z.strictObject({
  may: z.array(z.enum(RIGHTS)).min(1),
  chats: z.array(Chats).default([]),
  persons: z.array(z.int({ error: 'expected ids of people' })).default([]),
  maxChars: z.int().min(1).nullable().default(null),
  buttons: z.boolean().default(false),
  outbox: z.enum(['asked', 'always']).default('asked'),
  files: z.boolean().default(true),
  rate: textLike(RATE, 'a rate such as 5/min (s, min, h, d)').optional(),
  expires: z
    .string()
    .refine((text) => !Number.isNaN(Date.parse(text)), {
      error: 'expected a date such as 2027-01-31',
    })
    .optional(),
})

/** The SHA-256 of a TLS certificate, as `openssl x509 -fingerprint -sha256` prints it or without colons. */
export const Certificate = textLike(
  /^([0-9a-f]{2}:?){31}[0-9a-f]{2}$/i,
  'a SHA-256 fingerprint in hexadecimal',
)

/** A client that a command adds. */
export const AddedClient = ClientScopeEntry.extend({
  name: ClientName,
  certificate: Certificate.optional(),
})

/** A client of the settings, with the hash of its token or the file that holds it. */
export const ClientEntry = AddedClient.extend({
  tokenHash: textLike(/^[0-9a-f]{64}$/, 'a SHA-256 in lower-case hexadecimal').optional(),
  tokenFile: z.string().min(1).optional(),
}).refine(
  ({ tokenHash, tokenFile, certificate }) =>
    [tokenHash, tokenFile, certificate].filter((given) => given !== undefined).length === 1,
  { error: 'expected one of tokenHash, tokenFile and certificate' },
)
type ClientEntry = z.output<typeof ClientEntry>

/** Who reads updates beside the bot: a webhook, or without `url` the client of that name, which polls. */
export const ConsumerEntry = ClientScopeEntry.pick({ persons: true, files: true }).extend({
  name: ClientName,
  url: z.url({ protocol: /^https?$/ }).optional(),
  secretFile: z.string().min(1).optional(),
  kinds: z.array(z.string().min(1)).min(1).optional(),
  chats: z.array(Chats).default(['all']),
})

const WITHIN = /^([1-9]\d?)(min|h|d)$/

/** A rule of the setting `approve`. */
export const ApproveEntry = z.strictObject({
  chats: z.array(Chats).min(1),
  clients: z.array(ClientName).min(1).optional(),
  kinds: z
    .array(z.enum(['send', 'edit']))
    .min(1)
    .default(['send', 'edit']),
  by: z.array(z.int({ error: 'expected ids of people' }).min(1)).min(1),
  within: textLike(WITHIN, 'a time such as 30min, 1h or 2d').default('1h'),
})

/**
 * The rules of the setting `approve`, with their times in ms.
 * @param clients all that there are; null: it does not matter
 * @throws OperatorError `settings` for a rule of clients that there are not: it would demand nothing
 */
export function approvalRules(
  list: readonly z.output<typeof ApproveEntry>[],
  clients: readonly { name: string }[] | null,
) {
  const named = list.flatMap((rule) => rule.clients ?? [])
  const missing = named.find((name) => clients?.every((one) => one.name !== name))
  if (missing !== undefined) {
    const hint = '`postern client list` shows them; add it first, or correct the name'
    throw new OperatorError('settings', `approve: there is no client ${missing}`, hint)
  }
  return list.map(({ within, ...rule }) => ({ ...rule, withinMs: msOf(within) }))
}

/** The scope that an entry describes, with its times in ms. */
export function scopeOf({ rate, expires, ...scope }: z.output<typeof ClientScopeEntry>) {
  const [calls, unit] = rate?.split('/') ?? []
  return {
    ...scope,
    rate: unit === undefined ? null : { calls: Number(calls), perMs: msOf(`1${unit}`) },
    expiresAtMs: expires === undefined ? null : Date.parse(expires),
  }
}

/** The clients of the settings. @throws OperatorError `settings` for a file that holds no token */
export const givenClients = (list: readonly ClientEntry[]) =>
  list.map(({ name, tokenHash, tokenFile = '', certificate, ...entry }) => {
    const ofToken = () => tokenHash ?? tokenHashOf(secretIn(`client ${name}`, tokenFile))
    const credential = certificate === undefined ? ofToken() : certificateCredential(certificate)
    return { ...scopeOf(entry), name, credential, createdAtMs: null }
  })

/** The consumers of the settings. @throws OperatorError `settings` for a file that holds no secret */
export const givenConsumers = (list: readonly z.output<typeof ConsumerEntry>[]) =>
  list.map(({ name, url = null, secretFile, kinds = null, ...scope }) => {
    const secret = secretFile === undefined ? null : secretIn(`consumer ${name}`, secretFile)
    const reading = { ...scopeOf(ClientScopeEntry.parse({ may: ['read'], ...scope })), name }
    return { url, secret, kinds, reader: { ...reading, credential: '', createdAtMs: null } }
  })

function secretIn(whose: string, file: string): string {
  const secret = operatorErrorOf(() => SecretSource.fromFile(file, 'token'))
  if (secret instanceof SecretSource) return secret.reveal()
  throw new OperatorError('settings', `${whose}: ${file} ${secret.message}`, secret.hint)
}

/**
 * Every setting, once: its name, default, meaning and rule. The types, the names in the environment
 * and of the flags, the JSON schema and the README's table all come from here.
 */
import { isIP } from 'node:net'
import { z } from 'zod'
import { describeUrlProblem } from './urls.ts'

/** How a setting is written where all is text, in the environment and in flags. */
export type Kind = 'text' | 'number' | 'boolean' | 'list' | 'path' | 'secret'

/** What stands beside a schema: its kind, and what was expected when a value is refused. */
export interface About {
  kind: Kind
  expected: string
  /** The values there are, when they can be listed. */
  choices?: readonly string[]
}

/** Kind and expectation of each setting's schema. */
export const abouts = z.registry<About>()

function setting<T extends z.ZodType>(schema: T, about: About, meaning: string): T {
  const described = schema.describe(meaning)
  abouts.add(described, about)
  return described
}

const flag = (preset: boolean, meaning: string) =>
  setting(z.boolean().default(preset), { kind: 'boolean', expected: 'true or false' }, meaning)

const whole = (min: number, max: number, unit: string) => ({
  schema: z.int().min(min).max(max),
  about: {
    kind: 'number',
    expected: `a whole number from ${min} to ${max}${unit && ` (${unit})`}`,
  } satisfies About,
})

const choice = <const T extends readonly [string, ...string[]]>(
  choices: T,
  preset: T[number],
  meaning: string,
) =>
  setting(
    z.enum(choices).default(preset),
    { kind: 'text', expected: `one of ${choices.join(', ')}`, choices },
    meaning,
  )

const path = (meaning: string) =>
  setting(z.string().min(1).optional(), { kind: 'path', expected: 'the path of a file' }, meaning)

const secret = (meaning: string) =>
  setting(z.string().min(1).optional(), { kind: 'secret', expected: 'text' }, meaning)

const host = (preset: string, meaning: string) =>
  setting(
    z.string().refine(isHost).default(preset),
    { kind: 'text', expected: 'an IP address or a host name' },
    meaning,
  )

const port = (preset: number, meaning: string) => {
  const { schema, about } = whole(0, 65_535, '0 takes any free port')
  return setting(schema.default(preset), about, meaning)
}

const hostList = z.array(z.string().refine(isHost))
const hostListAbout: About = { kind: 'list', expected: 'a list of host names without port' }

const days = (min: number) => whole(min, 36_500, 'days')
const seconds = (preset: number, meaning: string) => {
  const { schema, about } = whole(0, 3600, 'seconds')
  return setting(schema.default(preset), about, meaning)
}

/** What a settings file may hold; also what flags and environment are checked against. */
export const Options = z.strictObject({
  upstream: z.strictObject({
    url: setting(
      z.string().superRefine((value, context) => {
        const problem = describeUrlProblem(value)
        if (problem !== null) context.addIssue({ code: 'custom', message: problem })
      }),
      { kind: 'text', expected: 'a URL such as https://api.example.org' },
      'scheme and host of the service; plain http only on loopback unless upstream.allowHttp',
    ),
    allowHttp: flag(false, 'let plain http go to a service that is not on loopback'),
    caFile: path('PEM certificates of a private authority that the service’s certificate is from'),
  }),
  bot: z
    .strictObject({
      token: secret('the token of the service'),
      tokenFile: path('file that holds bot.token; read again when the service says unauthorized'),
      clientToken: secret('what the local bot presents; bot.token when not given'),
      clientTokenFile: path('file that holds bot.clientToken'),
    })
    .prefault({}),
  listen: z
    .strictObject({
      host: host(
        '127.0.0.1',
        'address of the bot’s door; others than loopback need bot.clientToken',
      ),
      port: port(8700, 'port of the bot’s door: /bot/v1 and /media'),
      socket: setting(
        z.string().min(1).optional(),
        { kind: 'path', expected: 'the path of a socket' },
        'unix socket of the bot’s door, made with mode 0600',
      ),
      allowedHosts: setting(
        hostList.default([]),
        hostListAbout,
        'further Host names that the bot may use, beside those of loopback',
      ),
    })
    .prefault({}),
  admin: z
    .strictObject({
      host: host('127.0.0.1', 'address of /healthz, /readyz, /metrics and /status'),
      port: port(8701, 'port of /healthz, /readyz, /metrics and /status'),
    })
    .prefault({}),
  dataDir: setting(
    z.string().min(1).default('.postern'),
    { kind: 'path', expected: 'the path of a folder' },
    'folder of keyring, latches and what else survives a restart; made with mode 0700',
  ),
  key: z
    .strictObject({
      passphrase: secret('unlocks the keyring'),
      passphraseFile: path('file that holds key.passphrase; keep it outside dataDir'),
      protection: choice(
        ['auto', 'passphrase', 'keychain', 'none'],
        'auto',
        'what the secret keys rest under; auto takes the first that is possible, never none',
      ),
      publish: flag(true, 'own and publish the bot’s key; false passes everything through'),
      rotateEveryDays: setting(
        days(1).schema.optional(),
        days(1).about,
        'days between planned rotations of the bot’s key; none when not given',
      ),
      retainDays: setting(
        days(4).schema.default(30),
        days(4).about,
        'days that an old secret key goes on opening what is late',
      ),
    })
    .prefault({}),
  seal: z
    .strictObject({
      unusableRecipient: choice(
        ['skip', 'refuse'],
        'skip',
        'what one unusable certificate among several does',
      ),
    })
    .prefault({}),
  open: z
    .strictObject({
      verify: choice(
        ['flag', 'require', 'off'],
        'flag',
        'which verdicts let text through; see the verdicts in the README',
      ),
      audience: choice(
        ['check', 'off'],
        'check',
        'whether what is sealed to nobody of its chat is withheld',
      ),
      normalizeText: flag(true, 'give opened text the shape that readable text has'),
    })
    .prefault({}),
  trust: z
    .strictObject({
      policy: choice(
        ['accept', 'first-use', 'pinned'],
        'accept',
        'what a changed key of a person does',
      ),
    })
    .prefault({}),
  alert: z
    .strictObject({
      command: path('program that is run for what must not be missed: JSON on its stdin'),
      url: secret('where the same JSON is POSTed to; https, or http on loopback'),
      urlFile: path('file that holds alert.url'),
    })
    .prefault({}),
  readableGroups: choice(['allow', 'refuse'], 'allow', 'refuse: never send readable text anywhere'),
  routes: z
    .strictObject({
      allowUnknown: flag(false, 'let unknown paths with bodies through'),
    })
    .prefault({}),
  webhook: z
    .strictObject({
      allowHosts: setting(
        hostList.optional(),
        hostListAbout,
        'when set, the only hosts that the bot’s webhook may be on',
      ),
    })
    .prefault({}),
  cache: z
    .strictObject({
      keyListSeconds: seconds(60, 'how old a chat’s key list may be when sealing'),
      chatSeconds: seconds(60, 'how old a chat’s mode may be when sealing'),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: choice(
        ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
        'info',
        'how much is logged',
      ),
      ids: choice(
        ['plain', 'hash'],
        'plain',
        'hash: ids of chats, people, messages and updates are shown as keyed hashes',
      ),
      pretty: setting(
        z.boolean().optional(),
        { kind: 'boolean', expected: 'true or false' },
        'lines for people instead of JSON; true on a terminal when not given',
      ),
    })
    .prefault({}),
})

/** True for an IP address or a name that DNS could hold. */
function isHost(text: string): boolean {
  return (
    isIP(text) !== 0 ||
    /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_-]+)*$/i.test(text)
  )
}

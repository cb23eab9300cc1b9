/**
 * Every setting, once: its name, default, meaning and rule. The types, the names in the environment
 * and of the flags, the JSON schema and the table in this folder's README are all derived from
 * them.
 */
import { z } from 'zod'
import { After, AuthorityEntry } from './authorities.ts'
import { BOT_NAME } from './bot-names.ts'
import { ApproveEntry, ClientEntry, ConsumerEntry } from './client-entry.ts'
import {
  boolean,
  choice,
  entries,
  flag,
  group,
  host,
  hostList,
  path,
  port,
  seconds,
  secret,
  setting,
} from './option-kinds.ts'
import { KEY } from './key-options.ts'
import { describeUrlProblem } from './urls.ts'

const SchemaName = z.string().regex(/^(?!pg_)[a-z_][a-z0-9_-]*$/)

/** The settings of a sidecar that serves one bot. */
const OneBot = z.strictObject({
  upstream: z.strictObject({
    url: setting(
      z.string().superRefine((value, context) => {
        const problem = describeUrlProblem(value)
        if (problem !== null) context.addIssue({ code: 'custom', message: problem })
      }),
      { kind: 'text', expected: 'a URL such as https://api.example.org' },
      'base URL of the service; plain http only on loopback, unless upstream.allowHttp is set',
    ),
    allowHttp: flag(false, 'allow plain http to a service that is not on loopback'),
    caFile: path('PEM file with the private authority that signed the service’s certificate'),
  }),
  bot: group({
    token: secret('the bot’s token at the service'),
    tokenFile: path('file that holds bot.token; read again when the service answers unauthorized'),
    clientToken: secret('token that the local bot presents; bot.token when not set'),
    clientTokenFile: path('file that holds bot.clientToken'),
  }),
  listen: group({
    host: host(
      '127.0.0.1',
      'address that the bot calls; any other than loopback needs bot.clientToken',
    ),
    port: port(8700, 'port that the bot calls, for /bot/v1 and /media'),
    socket: path('unix socket that the bot calls; created with mode 0600', 'the path of a socket'),
    tlsCertFile: path('PEM file with the certificate of the bot’s door, which then speaks TLS'),
    tlsKeyFile: path('PEM file with its key; both are read again when they change'),
    tlsClientCaFile: path('PEM file with an authority: every caller needs a certificate of it'),
    allowedHosts: hostList.default(
      [],
      'more Host names that the bot may use, such as that of a Compose service',
    ),
  }),
  admin: group({
    host: host('127.0.0.1', 'address of /healthz, /readyz, /metrics and /status'),
    port: port(8701, 'port of /healthz, /readyz, /metrics and /status'),
    allowedHosts: hostList.optional(
      'more names and addresses by which /metrics and /status may be asked; those of listen.allowedHosts when not set; probes may use any',
    ),
    updatesWaiting: choice(
      ['warn', 'unready'],
      'updates that the bot does not take for a minute, or a hundred of them: warn only, or /readyz 503',
    ),
    readyWhen: choice(
      ['all', 'any'],
      'with several bots, /readyz is 200 when all are ready, or when any is',
    ),
  }),
  dataDir: setting(
    z.string().min(1).default('.postern'),
    { kind: 'path', expected: 'the path of a folder' },
    'folder for everything that survives a restart: keys, chats, people; created with mode 0700, or yours alone and empty',
  ),
  store: group({
    url: secret(
      'database of PostgreSQL that several sidecars share, in place of a file in dataDir: postgres://user:password@host/database',
    ),
    urlFile: path('file that holds store.url'),
    caFile: path('PEM file with the private authority that signed the database’s certificate'),
    schema: setting(
      SchemaName.default('postern'),
      {
        kind: 'text',
        expected: 'a name of a-z, 0-9, _ and -, with a letter or _ first, and not pg_',
      },
      'schema of that database which holds the store, of one bot; with `bots`, each has this name, _ and its own name where it sets none',
    ),
  }),
  key: KEY,
  seal: group({
    unusableRecipient: choice(
      ['skip', 'refuse'],
      'skip: send to the others when one certificate cannot be used; refuse: send to nobody',
    ),
  }),
  open: group({
    verify: choice(
      ['flag', 'require', 'off'],
      'flag: withhold forged text; require: deliver verified text only; off: deliver all that opens',
    ),
    audience: choice(
      ['check', 'off'],
      'off: open a message that was sealed for another chat; check: withhold it',
    ),
    normalizeText: flag(true, 'normalize opened text as the service normalizes readable text'),
  }),
  openpgp: group({
    engine: choice(
      ['native', 'library'],
      'native: common OpenPGP by node:crypto, all else by openpgp.js; library: openpgp.js alone, slower',
    ),
    check: choice(
      ['off', 'sample', 'all'],
      'how much of what native code sealed, opened and verified openpgp.js does again, behind everything else; sample: one in 256, and the first of each kind',
      'sample',
    ),
    acceptWeakHash: setting(
      z.array(z.string().regex(/^[0-9A-Fa-f]{40}$/)).default([]),
      { kind: 'list', expected: 'a list of fingerprints (40 hexadecimal characters)' },
      'certificates that count although their owner signed them over SHA-1, by fingerprint: whoever can make a collision may forge what these state; `postern check` counts the others',
    ),
  }),
  trust: group({
    policy: choice(
      ['accept', 'first-use', 'pinned'],
      'accept: any listed certificate; first-use: the first one; pinned: only people you approved',
    ),
    after: setting(
      After.optional(),
      { kind: 'text', expected: 'a time such as 90min, 48h or 7d' },
      'under first-use, how long a changed certificate waits until it is believed by itself; only you decide when not set',
    ),
    continuity: flag(
      false,
      'under first-use, believe a changed certificate at once where the one before certifies it',
    ),
    authorities: entries(
      AuthorityEntry,
      'authorities with name, file, and notation or userIds',
      'OpenPGP authorities: people whose certificates they certify are verified from the start',
    ),
  }),
  alert: group({
    command: path('program that runs for each alert, with JSON on its stdin'),
    url: secret('URL that gets each alert as JSON by POST; https, or http on loopback'),
    urlFile: path('file that holds alert.url'),
  }),
  readableGroups: choice(
    ['allow', 'refuse'],
    'refuse: never send readable text, not even to open groups',
  ),
  clearFields: choice(
    ['allow', 'warn', 'refuse'],
    'buttons and callback answers, which the service never encrypts, in encrypted chats; warn: name them in the answer; refuse: send none',
    'warn',
  ),
  clients: group({
    only: flag(false, 'the bot’s own token opens nothing: every caller is a client'),
    list: entries(
      ClientEntry,
      'clients with name, may, chats and tokenHash',
      'clients of the bot’s door beside those of `postern client add`: what each may say, and where',
    ),
  }),
  consumers: entries(
    ConsumerEntry,
    'consumers with name, url, kinds and chats',
    'who gets updates beside the bot: webhooks, and what clients that poll may see',
  ),
  approve: setting(
    z.array(ApproveEntry).default([]),
    { kind: 'entries', expected: 'a list, in the settings file, of rules with chats and by' },
    'sends and edits that leave once a person has approved them by a signed reply: in which chats, of which clients, by whom, within which time',
  ),
  outbox: group({
    updates: flag(
      false,
      'tell the bot by updates of kind postern_outbox how calls in the outbox ended',
    ),
    coalesceEdits: flag(
      false,
      'of the edits of one message that wait, make the newest alone; an edit waits also where the service’s rate has no room for it',
    ),
    maxAgeHours: setting(
      z.int().min(1).max(8760).default(72),
      { kind: 'number', expected: 'a whole number from 1 to 8760 (hours)' },
      'how long a call waits in the outbox after its time before it is set aside',
    ),
  }),
  routes: group({ allowUnknown: flag(false, 'pass unknown calls that carry a body') }),
  webhook: group({
    allowHosts: hostList.optional('the only hosts that the bot’s webhook may be on, when set'),
  }),
  cache: group({
    keyListSeconds: seconds(60, 'maximum age of a chat’s key list when a message is sealed'),
    chatSeconds: seconds(60, 'maximum age of a chat’s mode when a message is sent'),
  }),
  log: group({
    level: choice(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'lowest level that is logged',
      'info',
    ),
    ids: choice(
      ['plain', 'hash'],
      'hash: log keyed hashes instead of the ids of chats, people, messages and updates',
    ),
    pretty: boolean.optional('log readable lines instead of JSON; true on a terminal when not set'),
  }),
  traces: group({
    ids: choice(
      ['hash', 'plain', 'none'],
      'ids of chats and updates in spans: as keyed hashes, as they are, or none',
    ),
  }),
})

/** Groups of the process, and what each of several bots may have otherwise all the same. */
const OF_PROCESS = ['listen', 'admin', 'store', 'openpgp', 'log', 'traces', 'bots']
const OF_EACH_BOT = ['admin.updatesWaiting', 'store.schema']

/** Whether one of several bots may have a setting of its own. */
export const isOfEachBot = (dotted: string): boolean =>
  OF_EACH_BOT.includes(dotted) || !OF_PROCESS.includes(dotted.split('.', 1)[0] ?? '')

const { bot, ...others } = OneBot.shape

/** One of several bots, in the list or in a file of its own. */
const OneOfSeveral = z.strictObject({
  name: z
    .string()
    .regex(BOT_NAME)
    .optional()
    .describe('name in commands, metrics and log; in a folder, the name of the file'),
  ...bot.unwrap().shape,
  ...ownShape(others, []),
})

/** What a settings file may hold; also what flags and environment are checked against. */
export const Options = OneBot.extend({
  bots: setting(
    z.union([z.string().min(1), z.array(OneOfSeveral)]).optional(),
    { kind: 'path', expected: 'a folder with a file for each bot, or a list of bots' },
    'several bots in one process: a list, or a folder with one file for each',
  ),
})

/** The shape of what a bot may have of its own; no defaults, which are those of all. */
function ownShape(shape: Record<string, z.ZodType>, above: string[]): Record<string, z.ZodType> {
  const own: Record<string, z.ZodType> = {}
  for (const [name, schema] of Object.entries(shape)) {
    const at = [...above, name]
    const inner = innermost(schema)
    if (inner instanceof z.ZodObject) {
      const inside = ownShape(inner.shape, at)
      if (Object.keys(inside).length > 0) own[name] = z.strictObject(inside).optional()
    } else if (isOfEachBot(at.join('.'))) {
      own[name] = inner.describe(schema.description ?? '').optional()
    }
  }
  return own
}

function innermost(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as unknown as { innerType?: z.ZodType }
  return innerType === undefined ? schema : innermost(innerType)
}

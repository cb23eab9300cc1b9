/**
 * The one log, on fd 2. Nothing secret and no person's text may reach it: errors are reduced to
 * their name and code before they are written, and a final scrubber removes secrets that should
 * never have got so far.
 */
import { createHmac } from 'node:crypto'
import { pino, stdTimeFunctions, type Logger } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { stripControls } from './printable.ts'

export type Log = Logger

/** A secret that may change while the log lives (a token file that was read again). */
interface Revealable {
  reveal(): string
}

/** Longest string that a field may hold, in UTF-16 units. */
const MAX_STRING = 400
const MAX_DEPTH = 4
const MAX_WAITING_BYTES = 1 << 20
/** Shorter ones are no secrets, and scrubbing them would remove ordinary words from the log. */
const MIN_SECRET = 4
const JSON_STRING = /"(?:[^"\\]|\\.)*"/g
const PGP_START = '-----BEGIN PGP'
const PGP_BLOCK = /-----BEGIN PGP(?:[^"\\]|\\.)*?(?:-----END PGP [A-Z ]+-----|(?="))/g

/**
 * Makes the log.
 * @param o `level` a name of pino's, or `silent`; `pretty` lines for people instead of JSON;
 *   `secrets` must never appear (read anew for each line, and so is a `SecretSource`);
 *   `hashIdsWith` logs ids of chats, people, messages and updates as keyed hashes, the same for
 *   the same key; `bot` names the bot on every line, where there are several; `onLine` receives the
 *   lines, as JSON, in place of fd 2
 * @returns a pino logger that writes at once, and drops lines rather than fail without a reader
 */
export function createLogger(o: {
  level: string
  pretty: boolean
  secrets?: readonly (string | Revealable)[] | (() => readonly (string | Revealable)[])
  hashIdsWith?: string
  bot?: string
  onLine?: (line: string) => void
}): Log {
  const write = o.onLine ?? stderrWriter(o.pretty)
  const { secrets = [] } = o
  const scrub = scrubber(typeof secrets === 'function' ? secrets : () => secrets)
  const clean = cleaner(o.hashIdsWith === undefined ? null : idHasher(o.hashIdsWith))
  return pino(
    {
      level: o.level,
      base: o.bot === undefined ? null : { bot: o.bot },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: clean, error: clean },
      hooks: {
        logMethod(args, method) {
          const shown = (args as unknown[]).map(clean)
          if (args[0] instanceof Error) shown[0] = { err: shown[0] }
          Reflect.apply(method, this, shown)
        },
      },
    },
    { write: (line: string) => write(scrub(line)) },
  )
}

/** Writes lines to fd 2, as they are or for people. */
function stderrWriter(isPretty: boolean): (line: string) => void {
  const out = stderr()
  if (!isPretty) return (line) => void out.write(line)
  const colorize = process.stderr.isTTY && process.stderr.hasColors()
  const print = prettyFactory({ colorize, singleLine: true })
  return (line) => void out.write(print(line))
}

let shared: ReturnType<typeof pino.destination> | null = null

/** One for all logs, so that the lines of several never mix. */
function stderr(): ReturnType<typeof pino.destination> {
  if (shared !== null) return shared
  shared = pino.destination({ dest: 2, sync: true, maxLength: MAX_WAITING_BYTES })
  // A log that cannot be written (closed pipe, full disk) must not stop the sidecar.
  shared.on('error', () => {})
  return shared
}

/** Fields that name somebody or something at the service. */
const IDS = new Set(['chatId', 'userId', 'messageId', 'updateId', 'botId'])

type Clean = (value: unknown) => unknown

/**
 * Makes values fit to be logged. Gives errors as `{name, code}`, strings printable
 * and at most 400 long, bytes as their count, ids as `showId` shows them. Objects of other classes
 * are left to serializers.
 */
function cleaner(showId: ((id: number) => string) | null): Clean {
  const clean = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return printable(value)
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Error) return describe(value)
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (Array.isArray(value)) {
      return depth >= MAX_DEPTH ? '[list]' : value.map((item) => clean(item, depth + 1))
    }
    if (Object.getPrototypeOf(value) !== Object.prototype) return value
    if (depth >= MAX_DEPTH) return '[object]'
    const fields: Record<string, unknown> = {}
    for (const [name, item] of Object.entries(value) as [string, unknown][]) {
      const isId = showId !== null && typeof item === 'number' && IDS.has(name)
      if (name !== '__proto__') fields[name] = isId ? showId(item) : clean(item, depth + 1)
    }
    return fields
  }
  return (value) => clean(value, 0)
}

/** Short keyed hashes of ids: only the key's holder can match them with ids. */
export const idHasher =
  (key: string): ((id: number) => string) =>
  (id) =>
    `#${createHmac('sha256', key).update(String(id)).digest('hex').slice(0, 12)}`

function describe(error: Error): { name: string; code?: string } {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? { name: error.name, code } : { name: error.name }
}

function printable(text: string): string {
  const plain = stripControls(text)
  return plain.length > MAX_STRING ? `${plain.slice(0, MAX_STRING)}…` : plain
}

/** Works on JSON text, string by string, so that the line stays JSON for any secret. */
function scrubber(secrets: () => readonly (string | Revealable)[]): (line: string) => string {
  const known = new Set<string>()
  const spellings: string[] = []
  return (line) => {
    for (const one of secrets()) {
      const secret = typeof one === 'string' ? one : one.reveal()
      if (known.has(secret)) continue
      known.add(secret)
      if (secret.length >= MIN_SECRET) spellings.push(...spell(secret))
    }
    const isClean = !line.includes(PGP_START) && !spellings.some((one) => line.includes(one))
    if (isClean) return line
    return line.replace(JSON_STRING, (token) => {
      let text = token.replace(PGP_BLOCK, '[pgp]')
      for (const spelling of spellings) text = text.replaceAll(spelling, '[secret]')
      return text
    })
  }
}

/** Encodings of a secret inside a JSON string: plain, JSON within JSON, and percent-encoded. */
function spell(secret: string): string[] {
  const once = JSON.stringify(secret).slice(1, -1)
  const twice = JSON.stringify(once).slice(1, -1)
  return [...new Set([twice, once, encodeURIComponent(secret)])]
}

/**
 * Constants of the sources that tests change, so that nobody waits for what is not the point. They
 * are no settings: the package that is built for people has none of this.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'rolldown'

const COST = '/src/store/passphrase-cost.ts'

/** A passphrase is stretched in a millisecond; one test pins the real cost. */
export const lowCost = {
  name: 'low-cost',
  load: (id: string) =>
    id.endsWith(COST)
      ? `export const PASSPHRASE_COST = {
           argon2id: { n: 2 ** 10, r: 1, p: 1 },
           scrypt: { n: 2 ** 10, r: 8, p: 1 },
         }`
      : null,
} satisfies Plugin

/** Files whose times in milliseconds are bounds of waiting, or pauses. */
const FILES = [
  'http/bounds',
  'updates/bot-polls',
  'keys/life/attempt',
  'keys/driver',
  'translate/batch',
  'translate/deferral',
  'service/limits',
  'wiring/link',
]
for (const file of FILES) {
  if (!existsSync(join(import.meta.dirname, `../../src/${file}.ts`))) throw new Error(`no ${file}`)
}
/** `const PAUSE_MS = 1000`, or a list or an object of numbers, and `callMs: 30_000`. */
const TIME =
  /(?<=^(?:export )?const \w+_MS = )(?:\{[^}]*\}|\[[^\]]*\]|[\d_]+)|(?<=\b\w+Ms: )[\d_]+/gm
/** How long updates are left at the service; not at all unless a test says so. */
const LEFT_TIME = /(?<=\b(?:failed|others)Ms: )[\d_]+/g
const LEFT_FACTOR = "Number(process.env['TESTS_LEAVING'] ?? 0)"
const NUMBER = /\b\d[\d_]*/g
const FACTOR = "Number(process.env['TESTS_PATIENCE'] ?? 1)"

/**
 * Waits are as long as the environment variable `TESTS_PATIENCE` says, times what they are: a
 * sidecar started with `TESTS_PATIENCE: '0.2'` gives up on a service after 6 s and not after 30.
 * Updates that wait for a certificate are left at the service with `TESTS_LEAVING` alone, for that
 * part of the time: elsewhere a test sees at once what is withheld.
 */
export const deferral = {
  name: 'deferral',
  load(id: string) {
    if (!FILES.some((file) => id.endsWith(`/src/${file}.ts`))) return null
    const text = readFileSync(id, 'utf8')
    const left = text.replaceAll(LEFT_TIME, `$& * ${LEFT_FACTOR}`)
    const changed = left.replaceAll(TIME, (times) => times.replaceAll(NUMBER, `$& * ${FACTOR}`))
    if (changed === text) throw new Error(`${id} has no time that deferral could change`)
    return changed
  },
} satisfies Plugin

/** Files of the engine, what stands in each of them, and what tests put there. */
const ENGINE: [file: string, from: string, to: string][] = [
  [
    'openpgp/create',
    "options.engine !== 'library'",
    "(process.env['TESTS_ENGINE'] ?? options.engine) !== 'library'",
  ],
  [
    'openpgp/native/prepared-message',
    "Buffer.from(text, 'utf8')",
    "Buffer.from(process.env['TESTS_FAULTY'] === 'sealed' ? text.toUpperCase() : text, 'utf8')",
  ],
  [
    'openpgp/native/opener',
    'return decrypted && openedText(decrypted,',
    "return decrypted && (process.env['TESTS_FAULTY'] === 'opened' ? madeWrong : openedText)(decrypted,",
  ],
]
const MADE_WRONG = `
function madeWrong(...args: Parameters<typeof openedText>): Opened {
  const opened = openedText(...args)
  return opened.outcome === 'opened' ? { ...opened, text: opened.text.toUpperCase() } : opened
}
`

/**
 * Every engine is the one that the environment variable `TESTS_ENGINE` names, where it names one.
 * With `TESTS_FAULTY` native code makes capitals of all words that it seals (`sealed`) or opens
 * (`opened`), so that a check finds a difference.
 */
export const engineOfTests = {
  name: 'engine-of-tests',
  load(id: string) {
    const change = ENGINE.find(([file]) => id.endsWith(`/src/${file}.ts`))
    if (change === undefined) return null
    const [file, from, to] = change
    const text = readFileSync(id, 'utf8')
    const changed = text.replace(from, to)
    if (changed === text) throw new Error(`${id} does not say ${from}`)
    return file === 'openpgp/native/opener' ? changed + MADE_WRONG : changed
  },
} satisfies Plugin

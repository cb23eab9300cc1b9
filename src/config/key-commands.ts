/** What opens a store, by the settings: a passphrase, or commands that give or wrap secrets. */
import { z } from 'zod'
import { OperatorError, resultOr } from '../errors.ts'
import { countedCache } from '../util/caches.ts'
import { CommandError, runCommand, type ExternalCommand } from '../util/run-command.ts'
import { SecretSource } from './secrets.ts'
import type { Settings } from './settings.ts'
import { commandEnvironment } from './sources.ts'

/** Version of the protocol, in each request. */
const PROTOCOL = 1
/** Printable ASCII and newlines, as an armored file has them. */
const Wrapped = z.string().regex(/^[\x20-\x7e\n]{1,16384}$/)
const ANSWERS = {
  wrap: z.strictObject({ wrapped: Wrapped }).transform(({ wrapped }) => wrapped),
  unwrap: z.strictObject({ secret: z.base64().max(1024) }).transform(({ secret }) => secret),
}

/** Bots of a process that start together need the same passphrase: one command gives it to all. */
const SHARED_MS = 10_000
const shared = countedCache<string, Promise<string>>(64, { ttlMs: SHARED_MS })

type KeySettings = Pick<Settings['key'], 'protection' | 'passphraseCommand'>

/**
 * How a store's protection is chosen and opened.
 * @returns for `ProtectionRequest`: the passphrase is a function where a command gives it, which
 *   rejects with OperatorError `key-command`; `wrapper` is null without `key.protection.exec`
 */
export function keyAccess(settings: KeySettings, passphrase: SecretSource | null = null) {
  const { protection, passphraseCommand } = settings
  const { env } = commandEnvironment({ added: {}, withheld: '' })
  const exec = typeof protection === 'string' ? null : { argv: protection.exec, env }
  const command = passphraseCommand === undefined ? null : { argv: passphraseCommand, env }
  return {
    protection: typeof protection === 'string' ? protection : ('exec' as const),
    passphrase: command === null ? (passphrase?.reveal() ?? null) : () => sharedPassphrase(command),
    wrapper: exec === null ? null : wrapperBy(exec),
  }
}

function sharedPassphrase(command: ExternalCommand): Promise<string> {
  const name = JSON.stringify(command.argv)
  const known = shared.get(name)
  if (known !== undefined) return known
  const running = passphraseFrom(command)
  shared.set(name, running)
  running.catch(() => shared.delete(name))
  return running
}

/**
 * Runs `key.passphraseCommand`; the rules of its output are those of a passphrase file.
 * @throws OperatorError `key-command`
 */
export async function passphraseFrom(command: ExternalCommand): Promise<string> {
  const text = textOf(await run('key.passphraseCommand', command), 'key.passphraseCommand')
  try {
    return SecretSource.fromValue(text.replace(/[\r\n]+$/, '')).reveal()
  } catch (error) {
    const { message } = error as OperatorError
    throw refusal('key.passphraseCommand', `printed a passphrase that ${message}`)
  }
}

/**
 * Wraps secrets by a command: it reads one line of JSON and prints one (README, Wrapped by a
 * command). Both methods reject with OperatorError `key-command`.
 */
export function wrapperBy(command: ExternalCommand) {
  const ask = async (op: keyof typeof ANSWERS, fields: object): Promise<string> => {
    const request = { postern: PROTOCOL, op, ...fields }
    const output = await run('key.protection', command, `${JSON.stringify(request)}\n`)
    const [line = '', ...rest] = textOf(output, 'key.protection').split('\n')
    const isOneLine = rest.join('') === '' && rest.length < 2
    const answer: unknown = resultOr(() => (isOneLine ? JSON.parse(line) : null), null)
    const read = ANSWERS[op].safeParse(answer)
    if (read.success) return read.data
    throw refusal('key.protection', `did not answer ${op} by the protocol`)
  }
  return {
    /** @param context names the store: a wrapped secret unwraps with the same context alone */
    wrap: (secret: Buffer, context: string): Promise<string> =>
      ask('wrap', { secret: secret.toString('base64'), context }),
    unwrap: async (wrapped: string, context: string): Promise<Buffer> =>
      Buffer.from(await ask('unwrap', { wrapped, context }), 'base64'),
  }
}

async function run(setting: string, command: ExternalCommand, input?: string): Promise<Buffer> {
  try {
    return await runCommand(command, input)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw refusal(setting, error.message, { isSetting: !error.hasStarted, hint: error.hint })
  }
}

function textOf(output: Buffer, setting: string): string {
  const text = resultOr(() => new TextDecoder('utf-8', { fatal: true }).decode(output), null)
  if (text === null) throw refusal(setting, 'printed something other than UTF-8')
  return text
}

/** The reason holds nothing that the command printed. */
const refusal = (setting: string, reason: string, { isSetting = false, hint = '' } = {}) =>
  new OperatorError(
    'key-command',
    `the command of ${setting} ${reason}`,
    hint || 'run the command by hand, as the user that Postern runs as; the store is as it was',
    isSetting ? { exitCode: 2 } : {},
  )

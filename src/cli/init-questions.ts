/** The four questions of `postern init`, for a person at a terminal. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { intro, isCancel, outro, password, select, text } from '@clack/prompts'
import { isInside } from '../config/rules.ts'
import type { Sources } from '../config/sources.ts'
import { OperatorError } from '../errors.ts'
import {
  defaultFile,
  describeFile,
  describeSecret,
  describeValue,
  type Answers,
  type GivenAnswers,
  type InitQuestion,
} from './init-answers.ts'
import { promptOutput } from './terminal.ts'

/** On stderr, in one style. */
const STDERR_STYLE = { output: promptOutput }

/**
 * Asks what was not answered before.
 * @throws OperatorError `refused` when the person gives up
 */
export async function askMissing(given: GivenAnswers, sources: Sources): Promise<Answers> {
  const ask: Record<InitQuestion, () => Promise<void>> = {
    service: () => askService(given),
    token: () => askToken(given, sources),
    protection: () => askProtection(given, sources),
    dataDir: () => askDataDir(given, sources),
  }
  ensureTerminalSize()
  intro('Four questions, then Postern can start.', STDERR_STYLE)
  for (const question of given.missing.keys()) await ask[question]()
  outro('Thank you. Postern now writes and checks the settings.', STDERR_STYLE)
  return given
}

/** A terminal that does not know its size reports 0, and would get one character a line. */
function ensureTerminalSize(): void {
  promptOutput.columns ||= 80
  promptOutput.rows ||= 24
}

async function askService({ values }: GivenAnswers): Promise<void> {
  const url = await text({
    ...STDERR_STYLE,
    message: 'Where is the service?',
    placeholder: 'https://chat.example.org',
    validate: (typed = '') => describeValue('upstream.url', typed.trim()) ?? undefined,
  })
  values.set('upstream.url', answered(url).trim())
}

async function askToken(given: GivenAnswers, sources: Sources): Promise<void> {
  const where = await select({
    ...STDERR_STYLE,
    message: 'Where is the bot’s token?',
    options: [
      { value: 'file', label: 'in a file' },
      {
        value: 'typed',
        label: 'paste it now',
        hint: 'Postern writes it to a file that only you can read',
      },
    ],
  })
  if (answered(where) === 'file') {
    const file = await askSecretFile('Which file?', 'token', sources)
    given.values.set('bot.tokenFile', file)
    return
  }
  const token = await password({
    ...STDERR_STYLE,
    message: 'The token, from the bot console:',
    validate: (typed = '') => describeSecret({ value: typed.trim() }, 'token') ?? undefined,
  })
  const file = await askNewFile('token', given, sources)
  given.values.set('bot.tokenFile', file)
  given.newToken = { file, token: answered(token).trim() }
}

async function askProtection(given: GivenAnswers, sources: Sources): Promise<void> {
  const how = await select({
    ...STDERR_STYLE,
    message: 'What protects the bot’s secret keys?',
    options: [
      { value: 'new', label: 'a new passphrase', hint: 'for servers and containers' },
      { value: 'file', label: 'a passphrase that I have in a file' },
      ...(sources.mayHaveKeychain
        ? [{ value: 'keychain', label: 'the keychain of this operating system' }]
        : []),
      { value: 'none', label: 'nothing', hint: 'whoever copies the data folder has the keys' },
    ],
  })
  const chosen = answered(how)
  if (chosen === 'keychain' || chosen === 'none') {
    given.values.set('key.protection', chosen)
  } else if (chosen === 'file') {
    const file = await askSecretFile('Which file?', 'passphrase', sources)
    given.values.set('key.passphraseFile', file)
  } else {
    given.newPassphrase = await askNewFile('passphrase', given, sources)
    given.values.set('key.passphraseFile', given.newPassphrase)
  }
}

async function askDataDir(given: GivenAnswers, sources: Sources): Promise<void> {
  const secrets = [given.newPassphrase, given.newToken?.file ?? null].filter((one) => one !== null)
  const typed = await text({
    ...STDERR_STYLE,
    message: 'Which folder holds the keys and everything else that must survive a restart?',
    initialValue: given.dataDir,
    validate: (path = '') => {
      const folder = absolute(path, sources)
      const holds = secrets.some((file) => isInside(file, folder))
      if (holds) return 'expected another folder than that of the secrets'
      return describeValue('dataDir', path.trim()) ?? undefined
    },
  })
  given.values.set('dataDir', absolute(answered(typed), sources))
}

/** The file that holds a secret already. */
async function askSecretFile(
  message: string,
  rule: 'token' | 'passphrase',
  sources: Sources,
): Promise<string> {
  const path = await text({
    ...STDERR_STYLE,
    message,
    validate: (typed = '') => describeSecret({ file: absolute(typed, sources) }, rule) ?? undefined,
  })
  return absolute(answered(path), sources)
}

/** A file that a secret is to be put into; asked for only where the usual one is taken. */
async function askNewFile(
  name: string,
  { dataDir }: GivenAnswers,
  sources: Sources,
): Promise<string> {
  const usual = defaultFile(name, dataDir, sources)
  if (!existsSync(usual)) return usual
  const path = await text({
    ...STDERR_STYLE,
    message: `${usual} exists already. Which new file shall hold it?`,
    validate: (typed = '') => describeFile(absolute(typed, sources), dataDir)?.message,
  })
  return absolute(answered(path), sources)
}

function absolute(path: string, { cwd, home }: Sources): string {
  return resolve(cwd, path.trim().replace(/^~(?=\/|$)/, home))
}

function answered<T>(answer: T): Exclude<T, symbol> {
  if (!isCancel(answer)) return answer as Exclude<T, symbol>
  throw new OperatorError(
    'refused',
    'you gave up, and nothing was written',
    'run it again, or answer beforehand: `postern init --help` lists the flags',
  )
}

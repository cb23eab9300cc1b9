/** The questions of `postern init`, for a person at a terminal. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  confirm,
  intro,
  isCancel,
  outro,
  password,
  select,
  text,
  type TextOptions,
} from '@clack/prompts'
import { isInside } from '../config/rules.ts'
import type { Sources } from '../config/sources.ts'
import { refusedError } from '../errors.ts'
import { defaultFile, describeFile, describeSecret, describeValue } from './init-answers.ts'
import type { Answers } from './init-answers.ts'
import { promptOutput } from './terminal.ts'

/** On stderr, in one style. */
const STDERR_STYLE = { output: promptOutput }

/**
 * Asks for the missing answers.
 * @throws OperatorError `refused` when the person gives up
 */
export async function askMissing(given: Answers, sources: Sources): Promise<void> {
  const ask = {
    service: askService,
    token: askToken,
    publish: askPublish,
    protection: askProtection,
    dataDir: askDataDir,
  }
  // A terminal that does not know its size reports 0, and would get one character a line.
  promptOutput.columns ||= 80
  promptOutput.rows ||= 24
  intro('A few questions, then Postern can start.', STDERR_STYLE)
  for (const question of given.missing.keys()) await ask[question](given, sources)
  outro('Thank you. Postern now writes and checks the settings.', STDERR_STYLE)
}

async function askService({ values }: Answers): Promise<void> {
  const url = await askText('Where is the service?', {
    placeholder: 'https://chat.example.org',
    problemOf: (typed) => describeValue('upstream.url', typed.trim()),
  })
  values.set('upstream.url', url.trim())
}

async function askToken(given: Answers, sources: Sources): Promise<void> {
  const where = await choose('Where is the bot’s token?', [
    { value: 'file', label: 'in a file' },
    {
      value: 'typed',
      label: 'paste it now',
      hint: 'Postern writes it to a file that only you can read',
    },
  ])
  if (where === 'file') {
    given.values.set('bot.tokenFile', await askSecretFile('token', sources))
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

/** Before any publication: the service has no call that undoes it. */
async function askPublish({ values, missing }: Answers): Promise<void> {
  const message =
    'The first start publishes a key of the bot, and every private chat of the bot becomes ' +
    'encrypted for good: nothing undoes that. Shall it? Without, everything passes through.'
  if (answered(await confirm({ ...STDERR_STYLE, message }))) return
  values.set('key.publish', false)
  missing.delete('protection')
}

async function askProtection(given: Answers, sources: Sources): Promise<void> {
  const chosen = await choose('What protects the bot’s secret keys?', [
    { value: 'new', label: 'a new passphrase', hint: 'for servers and containers' },
    { value: 'file', label: 'a passphrase that I have in a file' },
    ...(sources.mayHaveKeychain
      ? [{ value: 'keychain', label: 'the keychain of this operating system' }]
      : []),
    { value: 'none', label: 'nothing', hint: 'whoever copies the data folder has the keys' },
  ])
  if (chosen === 'keychain' || chosen === 'none') {
    given.values.set('key.protection', chosen)
  } else if (chosen === 'file') {
    given.values.set('key.passphraseFile', await askSecretFile('passphrase', sources))
  } else {
    given.newPassphrase = await askNewFile('passphrase', given, sources)
    given.values.set('key.passphraseFile', given.newPassphrase)
  }
}

async function askDataDir(given: Answers, sources: Sources): Promise<void> {
  const secrets = [given.newPassphrase, given.newToken?.file ?? null].filter((one) => one !== null)
  const question = 'Which folder holds the keys and everything else that must survive a restart?'
  const typed = await askText(question, {
    initialValue: given.dataDir,
    problemOf: (path) => {
      const folder = absolute(path, sources)
      const holds = secrets.some((file) => isInside(file, folder))
      if (holds) return 'expected another folder than that of the secrets'
      return describeValue('dataDir', path.trim())
    },
  })
  given.values.set('dataDir', absolute(typed, sources))
}

/** The file that holds a secret already. */
async function askSecretFile(rule: 'token' | 'passphrase', sources: Sources): Promise<string> {
  const path = await askText('Which file?', {
    problemOf: (typed) => describeSecret({ file: absolute(typed, sources) }, rule),
  })
  return absolute(path, sources)
}

/** A new file for a secret; asked for only where the usual one exists already. */
async function askNewFile(name: string, { dataDir }: Answers, sources: Sources): Promise<string> {
  const usual = defaultFile(name, dataDir, sources)
  if (!existsSync(usual)) return usual
  const path = await askText(`${usual} exists already. Which new file shall hold it?`, {
    problemOf: (typed) => describeFile(absolute(typed, sources), dataDir)?.message ?? null,
  })
  return absolute(path, sources)
}

/** @param o `problemOf`: the problem of an answer, or null */
async function askText(
  message: string,
  { problemOf, ...o }: AskedText & { problemOf: (typed: string) => string | null },
): Promise<string> {
  const validate = (typed = ''): string | undefined => problemOf(typed) ?? undefined
  return answered(await text({ ...STDERR_STYLE, ...o, message, validate }))
}

type AskedText = Pick<TextOptions, 'placeholder' | 'initialValue'>

const choose = async (
  message: string,
  options: { value: string; label: string; hint?: string }[],
) => answered(await select({ ...STDERR_STYLE, message, options }))

const absolute = (path: string, { cwd, home }: Sources): string =>
  resolve(cwd, path.trim().replace(/^~(?=\/|$)/, home ?? '~'))

function answered<T>(answer: T): Exclude<T, symbol> {
  if (!isCancel(answer)) return answer as Exclude<T, symbol>
  const hint = 'run it again, or answer beforehand: `postern init --help` lists the flags'
  throw refusedError('you gave up, and nothing was written', hint)
}

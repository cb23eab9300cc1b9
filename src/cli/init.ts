import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { DEFAULT_FILE, settingsFile } from '../config/collect.ts'
import { load } from '../config/load.ts'
import type { Loaded } from '../config/read-one.ts'
import { settingsSchema, settingsTemplate } from '../config/template.ts'
import type { Settings } from '../config/settings.ts'
import type { Sources } from '../config/sources.ts'
import { OperatorError, refusedError, systemFailure, usageError } from '../errors.ts'
import { makeFolders } from '../util/folders.ts'
import { checkSources } from './check.ts'
import { givenAnswers, type Answers } from './init-answers.ts'
import { OperatorCommand } from './operator-command.ts'
import { writeNewFile } from './files.ts'
import { commandLine, isInteractive, keepFlags, printNotice } from './terminal.ts'

const SCHEMA_NAME = 'postern.schema.json'
const PASSPHRASE_BYTES = 32

/** `postern init`: makes a settings file that works. */
export const initCommand = (): OperatorCommand =>
  new OperatorCommand('init')
    .option('--make-passphrase', 'make a passphrase file that protects the secret keys')
    .notes(
      `It writes the file that --config names, else $POSTERN_CONFIG, else
${DEFAULT_FILE}, and never overwrites one. These flags answer its questions:
  --upstream-url <url>          where the service is
  --bot-token-file <file>       file that holds the bot's token
  --make-passphrase             make a new passphrase, in the file that
                                --key-passphrase-file names, else in
                                ~/.config/postern/passphrase
                                (or under $XDG_CONFIG_HOME)
  --key-passphrase-file <file>  alone: file that holds a passphrase already
  --key-protection <how>        instead of a passphrase: keychain or none
  --key-publish <true|false>    whether the first start publishes a key, for good
  --data-dir <folder>           folder for keys and everything else it stores
It writes every other flag of \`postern run\` into the file too, and neither asks
for nor writes what the environment gives (such as POSTERN_BOT_TOKEN).`,
    )
    .example('postern init --upstream-url https://chat.example.org --make-passphrase')
    .runs(init)

async function init(sources: Sources, { makePassphrase = false }: { makePassphrase?: boolean }) {
  const file = settingsFile(sources)
  if (existsSync(file)) {
    const hint = 'name another file with --config, or change this one and run `postern check`'
    throw refusedError(`${file} is there already, and nothing is written over it`, hint)
  }
  const answers = givenAnswers(sources, { makePassphrase })
  if (answers.missing.size > 0) await complete(answers, sources)
  const written = { ...sources, flags: {}, configFlag: file }
  const { settings } = writeAll(file, answers, written)
  keepFlags({ config: relative(sources.cwd, file) === DEFAULT_FILE ? null : file })
  try {
    await checkSources(written, {})
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    const hint = 'follow the hints above, then run `postern check`'
    throw new OperatorError(error.code, `the settings are written, but ${error.message}`, hint)
  }
  printNotice('')
  printNotice(`next: ${commandLine('postern run')}`)
  printNotice(`then point your bot at ${doorOf(settings.listen)}`)
  const passphrase = answers.values.get('key.passphraseFile')
  if (typeof passphrase === 'string') printNotice(`keep a copy of ${passphrase} somewhere else`)
}

function doorOf({ host, port, socket }: Settings['listen']): string {
  if (socket !== undefined) return socket
  if (port === 0) return 'the address that it prints'
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/**
 * Asks for the missing answers, at a terminal. Without one, publication and data folder have a default.
 * @throws OperatorError `usage`
 */
async function complete(given: Answers, sources: Sources): Promise<void> {
  if (isInteractive()) {
    const { askMissing } = await import('./init-questions.ts')
    return await askMissing(given, sources)
  }
  const { dataDir: _hasDefault, publish: _too, ...left } = Object.fromEntries(given.missing)
  if (Object.keys(left).length > 0) {
    throw usageError(
      `answers are missing, and there is no terminal to ask at: ${Object.values(left).join('; ')}`,
      'give these flags, or run it at a terminal; `postern init --help` explains each',
    )
  }
  given.values.set('dataDir', given.dataDir)
}

/**
 * Writes all files and loads the settings from them; on an error it removes what it wrote.
 * @param written the sources that the file is read with
 * @throws OperatorError `settings`, `refused`, `failed`
 */
function writeAll(file: string, answers: Answers, written: Sources): Loaded {
  const { values, newPassphrase, newToken } = answers
  const made: string[] = []
  const make = (path: string, text: string, folderMode: number): void => {
    try {
      makeFolders(dirname(path), folderMode)
    } catch (error) {
      const hint = 'name a file in a folder that this user may write to'
      throw systemFailure(`the folder of ${path} cannot be made`, hint, error)
    }
    made.push(writeNewFile(path, { text }, {}))
  }
  try {
    if (newToken !== null) make(newToken.file, `${newToken.token}\n`, 0o700)
    if (newPassphrase !== null) {
      make(newPassphrase, `${randomBytes(PASSPHRASE_BYTES).toString('base64')}\n`, 0o700)
    }
    const schema = join(dirname(file), SCHEMA_NAME)
    if (!existsSync(schema)) make(schema, settingsSchema(), 0o755)
    make(file, settingsTemplate(values, SCHEMA_NAME), 0o755)
    const loaded = load(written)
    for (const path of made) printNotice(`made ${path}`)
    return loaded
  } catch (error) {
    for (const path of made) rmSync(path, { force: true })
    throw error
  }
}

/** `postern key`: the bot's own keys. */
import { Argument, Option } from 'commander'
import type { DeletionReport, KeyRow } from '../operators/keys.ts'
import type { Operations } from '../operators/operations.ts'
import type { RotationReport } from '../operators/reports.ts'
import { failedError, OperatorError } from '../errors.ts'
import { counted } from '../printable.ts'
import { keyExportCommand, keyImportCommand } from './key-transfer.ts'
import { withSidecar, OperatorCommand, printAnswer, type JsonFlag } from './operator-command.ts'
import { confirmTyped, readPassphrase } from './prompts.ts'
import { printList } from './table.ts'
import { print, printNotice, printJson } from './terminal.ts'
import { pauseUntilShutdown, handleShutdown, shutdownSignal } from './signals.ts'

export const commandsOfGroup = (): OperatorCommand[] => [
  new OperatorCommand('list')
    .description('list the bot’s keys, newest first')
    .example('postern key list --json')
    .asks((sidecar) => sidecar.keyList(), printKeys),
  new OperatorCommand('show')
    .description('print the certificate of a key, armored')
    .argument('[fingerprint]', 'which key; the active one by default')
    .example('postern key show | gpg --import')
    .asks(
      (sidecar, fingerprint?: string) => sidecar.keyShow({ fingerprint }),
      ({ fingerprint, state, certificate }) => {
        printNotice(`${fingerprint}, ${state}`)
        print(certificate)
      },
    ),
  new OperatorCommand('generate')
    .description('make the bot’s first key without publishing it, and print its fingerprint')
    .example('postern key generate')
    .does((sidecar) => sidecar.keyGenerate(), { mayCreateStore: true }),
  new OperatorCommand('publish')
    .description('publish the bot’s key at the service, and print its fingerprint')
    .option('--replace', 'replace a key at the service that is not ours')
    .example('postern key publish --replace')
    .does((sidecar, { replace = false }: { replace?: boolean }) => sidecar.keyPublish({ replace })),
  keyRotateCommand(),
  new OperatorCommand('delete')
    .description(
      'destroy the secret part of an old key for good, after showing what becomes unreadable',
    )
    .argument('<fingerprint>', 'which key, in full')
    .option('--yes', 'do not ask')
    .option('--json', 'print what was deleted, and what becomes unreadable, as JSON')
    .example('postern key delete 0123456789abcdef0123456789abcdef01234567')
    .runs((sources, fingerprint: string, options: DeleteFlags) =>
      withSidecar(sources, (sidecar) => deleteKey(sidecar, fingerprint, options)),
    ),
  keyExportCommand(),
  keyImportCommand(),
  new OperatorCommand('protect')
    .description('protect the store with a new passphrase, the OS keychain, a command, or nothing')
    .addArgument(
      new Argument('<protection>', 'how the store is protected from now on').choices(PROTECTIONS),
    )
    .notes(
      `The settings say what opens the store now. It asks for the new passphrase, or
takes it from the environment:
  POSTERN_NEW_PASSPHRASE       the new passphrase of the store
  POSTERN_NEW_PASSPHRASE_FILE  file that holds it`,
    )
    .example('postern key protect passphrase')
    .runs(async (sources, protection: Protection) => {
      const asked = { which: 'new', question: 'new passphrase: ' } as const
      const done = await withSidecar(sources, async (sidecar) => {
        const isTyped = protection === 'passphrase'
        const passphrase = isTyped ? await readPassphrase(sources, asked) : null
        return await sidecar.keyProtect({ protection, passphrase })
      })
      printNotice(done.message)
      print(done.protection)
    }),
]

type Protection = Parameters<Operations['keyProtect']>[0]['protection']
const PROTECTIONS: readonly Protection[] = ['passphrase', 'keychain', 'exec', 'none']

function printKeys(keys: readonly KeyRow[]): void {
  printList(keys, 'there is no key yet; `postern run` makes the first one', {
    FINGERPRINT: ({ fingerprint }) => fingerprint,
    STATE: ({ state }) => state,
    PUBLISHED: ({ publishedAt }) => minute(publishedAt),
    RETIRED: ({ retiredAt }) => minute(retiredAt),
    OPENS: opens,
    OPENED: ({ openedMessages, openedMedia }) =>
      `${counted(openedMessages, 'message')}, ${counted(openedMedia, 'file')}`,
    'LAST OPENED': ({ lastOpenedAt }) => minute(lastOpenedAt),
  })
  if (keys.some(({ state, opens: now }) => state === 'retired' && !now)) {
    printNotice(
      'keys that no longer open messages can be deleted: `postern key delete <fingerprint>`',
    )
  }
}

function opens({ opens: now, opensUntil }: KeyRow): string {
  if (!now) return 'no more'
  return opensUntil === null ? 'yes' : `until ${minute(opensUntil)}`
}

/** A time for people, to the minute, UTC. */
const minute = (time: string | null): string =>
  time === null ? '-' : `${time.slice(0, 16).replace('T', ' ')}Z`

type DeleteFlags = JsonFlag & { yes?: boolean }

async function deleteKey(sidecar: Operations, named: string, flags: DeleteFlags): Promise<void> {
  const report = await sidecar.keyDeletion({ fingerprint: named })
  printDeletion(report)
  const { fingerprint } = report.key
  const done = 'nothing was deleted'
  const question = 'type the fingerprint to delete it: '
  await confirmTyped(flags.yes === true, { question, answer: fingerprint, done })
  const deleted = await sidecar.keyDelete({ fingerprint })
  printAnswer(report, flags, () => printNotice(deleted.message))
}

function printDeletion({ key, loses, unsure }: DeletionReport): void {
  printNotice(`deleting ${key.fingerprint}, retired at ${key.retiredAt ?? 'no time'}`)
  printNotice('this becomes unreadable for good:')
  for (const line of loses) printNotice(`  ${line}`)
  printNotice('only this store is overwritten; the key may survive in:')
  for (const line of unsure) printNotice(`  ${line}`)
}

const LOOK_MS = 100

type RotateFlags = JsonFlag & { watch?: boolean; abandon?: boolean; algorithm?: 'classic' | 'pqc' }

/** `postern key rotate`: replaces the published key by a new one. */
const keyRotateCommand = (): OperatorCommand =>
  new OperatorCommand('rotate')
    .description('replace the bot’s key by a new one, and print the new fingerprint')
    .option('--watch', 'follow it to the end, retries included')
    .addOption(
      new Option(
        '--abandon',
        'end the rotation under way, if the service has not been sent the new key yet',
      ).conflicts('watch'),
    )
    .choice('--algorithm <kind>', 'of the new key, instead of `key.algorithm`', ['classic', 'pqc'])
    .option('--json', 'print each step as JSON, one line each')
    .example('postern key rotate --watch')
    .runs(async (sources, options: RotateFlags) => {
      handleShutdown()
      await withSidecar(sources, async (sidecar) => {
        if (options.abandon === true) return printStep(await sidecar.keyAbandon(), options)
        await sidecar.keyRotate({ algorithm: options.algorithm })
        await follow(sidecar, options)
      })
    })

/** Prints each step, until the rotation ends or must wait for the service. */
async function follow(sidecar: Operations, options: RotateFlags): Promise<void> {
  let lastStep = ''
  while (!shutdownSignal.aborted) {
    const report = await sidecar.keyRotation()
    if (report === null) {
      throw failedError('the rotation is gone', 'run `postern key list`, and see the log')
    }
    const step = `${report.phase} ${report.attempts} ${report.detail}`
    if (step !== lastStep) printStep(report, options)
    lastStep = step
    if (report.endedAt !== null) return
    if (report.phase === 'waiting' && options.watch !== true) throw unfinished(report)
    await pauseUntilShutdown(LOOK_MS)
  }
  printNotice('the rotation goes on in the background')
}

function printStep(report: RotationReport, { json }: RotateFlags): void {
  const { phase, detail, nextAttemptAt, from, to } = report
  if (json === true) return printJson(report)
  const next = nextAttemptAt === null ? '' : `, tried again at ${nextAttemptAt}`
  if (phase === 'abandoned') return printNotice(`abandoned; ${from} stays the bot’s key`)
  if (phase !== 'done') return printNotice(`${phase}: ${detail}${next}`)
  printNotice(`done; ${from} still opens late messages`)
  print(to)
}

function unfinished({ detail, nextAttemptAt }: RotationReport): OperatorError {
  const when = nextAttemptAt === null ? 'later' : `at ${nextAttemptAt}`
  return failedError(
    `the rotation is not finished: ${detail}`,
    `a running sidecar tries again ${when}, a starting one at once; ` +
      '--watch follows it, --abandon ends it if that is still possible',
  )
}

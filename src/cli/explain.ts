import type { Sources } from '../config/sources.ts'
import type { Explained, ExplainedSent } from '../operators/messages.ts'
import { OperatorError, refusedError, usageError, failedError } from '../errors.ts'
import { counted } from '../printable.ts'
import { describeSkip } from '../translate/reasons/reason-descriptions.ts'
import { describeVerdict } from '../translate/verdict-descriptions.ts'
import { MAX_ARMORED_BYTES } from '../operators/protocol.ts'
import { numberReader } from './flags.ts'
import { withSidecar, OperatorCommand, printAnswer, type JsonFlag } from './operator-command.ts'
import { printList, printTable } from './table.ts'
import { printJson, printText, printNotice } from './terminal.ts'
import { readInput } from './files.ts'

const readId = numberReader('an id', 0, Number.MAX_SAFE_INTEGER)

type ExplainFlags = JsonFlag & { sent?: boolean; withheld?: boolean }

/** `postern explain`: why an update was withheld, or whom a message was not sealed to. */
export const explainCommand = (): OperatorCommand =>
  new OperatorCommand('explain')
    .argument('[updateId]', 'which update; with --sent, the id of a message from the bot', readId)
    .option('--sent', 'show how many people a message was sealed to, and who was skipped')
    .option('--withheld', 'list what was withheld in the last ten days, by chat and reason')
    .option('--json', 'print it as JSON')
    .example('postern explain 4711')
    .runs(async (sources, id: number | undefined, options: ExplainFlags) => {
      if (options.withheld === true) return await listWithheld(sources, id, options)
      if (id === undefined) throw usageError('no update is named', 'name one, or give --withheld')
      if (options.sent === true) {
        const sent = await withSidecar(sources, (sidecar) => sidecar.explainSent({ messageId: id }))
        if (sent === null) throw nothingKnown(`message ${id}`)
        return options.json === true ? printJson(sent) : printTable(linesOfSent(sent))
      }
      const found = await withSidecar(sources, (sidecar) => sidecar.explainUpdate({ updateId: id }))
      if (found.length === 0) throw nothingKnown(`update ${id}`)
      printAnswer(found, options, () => found.forEach((one) => printTable(lines(one))))
    })

const OF_ANOTHER_VERSION = {
  what: 'a reason of another version',
  hint: 'run this command from the sidecar’s own version',
}

async function listWithheld(sources: Sources, id: number | undefined, flags: ExplainFlags) {
  if (id !== undefined || flags.sent === true) {
    const hint = '`postern explain <updateId>` explains one update'
    throw usageError('--withheld lists all chats, and takes neither an id nor --sent', hint)
  }
  const found = await withSidecar(sources, (sidecar) => sidecar.explainWithheld())
  if (flags.json === true) return printJson(found)
  printList(found, 'nothing was withheld in the last ten days', {
    chat: ({ chatId }) => String(chatId ?? '?'),
    messages: ({ count }) => String(count),
    verdict: ({ verdict }) => verdict,
    reason: ({ reason }) => reason ?? '',
    first: ({ firstAt }) => firstAt,
    last: ({ lastAt }) => lastAt,
    'last update': ({ lastUpdateId }) => String(lastUpdateId),
  })
}

function lines(one: Explained): (string[] | null)[] {
  const { openedWith, reason, signer } = one
  const { what, hint } = describeVerdict(one.verdict, reason) ?? {
    ...OF_ANOTHER_VERSION,
    what: 'a verdict of another version',
  }
  return [
    ['message', named(one)],
    ['examined', one.at],
    ['verdict', `${one.verdict}${reason === null ? '' : ` (${reason})`}`],
    ['that is', what],
    ['its text', one.delivered ? 'was given to the bot' : 'was withheld from the bot'],
    openedWith && ['opened with', `${openedWith.fingerprint} (${openedWith.state})`],
    signer === null ? null : ['signed by', signer],
    hint === 'nothing' ? null : ['what to do', hint],
  ]
}

/** The known ids of a message. */
function named({ messageId, chatId, userId }: Explained): string {
  const chat = chatId === null ? '' : ` in chat ${chatId}`
  return `${messageId ?? 'without an id'}${chat}${userId === null ? '' : `, by ${userId}`}`
}

const linesOfSent = ({ at, chatId, recipients, skipped }: ExplainedSent): string[][] => [
  ['chat', String(chatId)],
  ['sent', at],
  ['sealed to', counted(recipients, 'person', 'people')],
  ...skipped.flatMap(({ userId, reason }) => {
    const { what, hint } = describeSkip(reason) ?? OF_ANOTHER_VERSION
    return [
      ['skipped', `person ${userId}: ${reason}, ${what}`],
      ['', hint],
    ]
  }),
]

const nothingKnown = (what: string): OperatorError =>
  refusedError(
    `nothing is remembered of ${what}`,
    'it passed as it came, or never came here; what was opened or sealed is remembered for ten days',
  )

/** `postern open`: opens a sealed message with the keyring. */
export const openCommand = (): OperatorCommand =>
  new OperatorCommand('open').example('postern open < message.asc').runs(open)

async function open(sources: Sources): Promise<void> {
  const input = { maxBytes: MAX_ARMORED_BYTES, what: 'the message' }
  const armored = (await readInput(undefined, input)).toString('utf8')
  const report = await withSidecar(sources, (sidecar) => sidecar.open({ armored }))
  printNotice(`verdict: ${report.verdict}`)
  if (report.reason !== undefined) printNotice(`reason: ${report.reason}`)
  if (report.signer !== undefined) printNotice(`signer: ${report.signer}`)
  if (!report.opened || report.text === undefined) {
    const hint = 'it must be one armored message, sealed to a key that `postern key list` shows'
    throw failedError(`the message was not opened: ${report.verdict}`, hint)
  }
  printText(report.text)
}

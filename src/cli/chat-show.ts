/** `postern chat show`, and `postern check --chats`: what would become of a message into a chat. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ShownChat } from '../operators/chats.ts'
import type { Operations } from '../operators/operations.ts'
import { failedError } from '../errors.ts'
import { oneLine } from '../printable.ts'
import { describeSkip } from '../translate/reasons/reason-descriptions.ts'
import { readChatId } from './flags.ts'
import { OperatorCommand, type JsonFlag } from './operator-command.ts'
import { printTable } from './table.ts'
import { print, printJson, printNotice } from './terminal.ts'

const BODIES: Record<ShownChat['body'], string> = {
  sealed: 'sealed',
  readable: 'readable: the service and everybody who can see the chat read it',
  refused: 'refused: nothing is sent',
  unknown: 'not known: the service does not say',
}
/** A bot's messages need the sidecar's own calls too: half of them are left for those. */
const SHARE_OF_CALLS = 0.5
const PAUSE_MS = 2000

export const chatShowCommand = (): OperatorCommand =>
  new OperatorCommand('show')
    .description('show who could read a message into a chat now, and who would be skipped')
    .argument('<chatId>', 'which chat', readChatId)
    .example('postern chat show 4711')
    .asks((sidecar, chatId: number) => sidecar.chatShow({ chatId }), printChat)

/**
 * Previews a message into every known chat, one after the other, and prints each result at once.
 * Waits while half of the sidecar's own calls are used.
 * @throws OperatorError `failed` when a message into one of them would be refused
 */
export async function checkChats(sidecar: Operations, { json }: JsonFlag): Promise<void> {
  const chats = await sidecar.chatList()
  if (chats.length === 0) printNotice('no chat is known yet')
  const shown: ShownChat[] = []
  for (const { id } of chats) {
    await waitForCalls(sidecar)
    const one = await sidecar.chatShow({ chatId: id })
    shown.push(one)
    if (json !== true) printChat(one)
  }
  if (json === true) printJson(shown)
  const bad = shown.filter(({ body }) => body === 'refused' || body === 'unknown').length
  if (bad === 0) return
  const hint = 'do what their lines say, then run `postern check --chats` again'
  throw failedError(`a message would not be sent into ${bad} of ${shown.length} chats`, hint)
}

async function waitForCalls(sidecar: Operations): Promise<void> {
  for (;;) {
    const { calls } = await sidecar.status()
    if (calls.usedLastMinute < Math.max(1, calls.limit * SHARE_OF_CALLS)) return
    await pause(PAUSE_MS)
  }
}

function printChat(shown: ShownChat): void {
  const { chatId, kind, isPublished, body, people, withoutKey, problem } = shown
  const isLater = body === 'sealed' && !isPublished
  print(`chat ${chatId}, ${oneLine(kind)}`)
  printTable([
    ['a message is', `${BODIES[body]}${isLater ? ', once the bot’s key is published' : ''}`],
    problem && ['because', `${problem.message} (${problem.code})`],
    problem?.hint == null ? null : ['what to do', problem.hint],
    ...people.flatMap(personRows),
    (withoutKey ?? 0) <= 0
      ? null
      : ['without a key', `${withoutKey} of its members, who could not read it`],
  ])
}

function personRows({ userId, fingerprint, skipped }: ShownChat['people'][number]) {
  const person = `person ${userId}, ${fingerprint ?? 'no certificate that can be read'}`
  if (skipped === null) return [['can read it', person]]
  const description = describeSkip(skipped)
  return [
    ['skipped', `${person}: ${skipped}${description === null ? '' : `, ${description.what}`}`],
    description && ['what to do', description.hint],
  ]
}

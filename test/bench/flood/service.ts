/**
 * The service of the flood bench, a process of its own: a sandbox, and before it what answers as it
 * is told. Talks to its parent; ends with it.
 */
import { answering, endless, startFront } from '../../bounds/front.ts'
import { createSandbox } from '../../../src/sandbox/create.ts'
import { FIRST_GROUP, GROUPS, success, type ServiceFacts, type ToService } from './words.ts'

const sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
const front = await startFront(sandbox.url)
const { bot, alice, privateChat } = sandbox.home
await sandbox.phone(alice.id)

process.on('message', (message: ToService) => void obey(message))
process.on('disconnect', () => process.exit(0))
process.send?.({
  url: front.url,
  token: sandbox.token,
  botId: bot.id,
  aliceId: alice.id,
  privateChat,
} satisfies ServiceFacts)

async function obey(message: ToService): Promise<void> {
  if ('setKey' in message) {
    await sandbox.control.setBotKey({ botId: bot.id, ...message.setKey })
  } else {
    front.instead.clear()
    for (const [route, lie] of message.lies.routes) {
      front.instead.set(route, lie.kind === 'text' ? answering(lie.text) : endless(lie.bytes))
    }
    if (message.lies.keyLists !== undefined) addGroups(message.lies.keyLists)
  }
  process.send?.({ done: true })
}

function addGroups(keyLists: string[]): void {
  const me = { status: 'member', rights: 0, restrictedUntil: null }
  const chat = { kind: 'group', mode: 'protected', historyVisible: false, memberCount: 9, me }
  for (let n = 0; n < GROUPS; n++) {
    const id = FIRST_GROUP + n
    const keys = answering(keyLists[n % keyLists.length] ?? '')
    front.instead.set(`GET /chats/${id}`, answering(success({ id, ...chat })))
    front.instead.set(`GET /chats/${id}/keys`, keys)
  }
  front.instead.set('POST /messages', answering(success({ id: 7, date: Date.now() })))
}

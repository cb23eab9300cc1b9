/**
 * Decisions that sidecars of one bot share, each made right after another sidecar has written what it
 * depends on: two bots over one store, of which one reads no change before it asks for it.
 */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import type { OutboxDoor } from '../../src/http/routes/outbox.ts'
import { createHearing } from '../../src/outbox/hear.ts'
import type { OutboxEntry } from '../../src/outbox/entries.ts'
import type { FollowedTable, Store } from '../../src/store/store.ts'
import { readSend } from '../../src/translate/draft.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { createLink } from '../../src/wiring/link.ts'
import { entryOf } from '../outbox/support.ts'
import { temporary } from '../store/support.ts'
import { replyOf } from '../support/approvals.ts'
import { clientOf } from '../support/client.ts'
import { watchedLog } from '../support/watched-log.ts'
import { BOT, CHAT, serve, storeWith, useCore } from '../wiring/core-scene.ts'
import { PlayedStore } from '../wiring/played-store.ts'

const { engine } = useCore()
const [GROUP, OPEN_GROUP, OFFICE, BOSS] = [-70, -80, 3, 815]
const WORDS = Buffer.from(JSON.stringify({ chatId: GROUP, text: 'words' }))

async function sidecar(store: Store) {
  const secrets = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  const settings = settingsFrom({
    upstream: { url: 'http://127.0.0.1:9' },
    dataDir: temporary(),
    approve: [{ chats: [GROUP], by: [BOSS] }],
    cache: { chatSeconds: 3600, keyListSeconds: 3600 },
  })
  const log = watchedLog()
  const { link: played, service, sent } = serve()
  const real = createLink(settings, secrets, { log, ways: [] })
  const { calls, upstream } = played
  const parts = { link: { ...real, calls, botId: () => BOT, upstream }, store, engine }
  const bot = await createBot({ settings, secrets, log, parts })
  onTestFinished(async () => {
    await bot[Symbol.asyncDispose]()
    await real[Symbol.asyncDispose]()
  })
  await bot.core.publication?.compareNow()
  return { ...bot, ...bot.core, service, sent }
}

async function pair() {
  const played = new PlayedStore(await storeWith('active'))
  const there = await sidecar(played.own)
  await there.knownChats.saw([{ chatId: OFFICE, kind: 'private' }])
  await there.operations.chatBind({ chatId: OFFICE, userId: BOSS })
  return { here: await sidecar(played.shared), there, played }
}
type Pair = Awaited<ReturnType<typeof pair>>

/** What both know before, by its key in the table. */
interface About {
  id: string
  [part: string]: unknown
}
interface Decision {
  both?: (pair: Pair) => Promise<About | void>
  /** What the other sidecar writes. @returns the key of the row; else it is that of `both` */
  elsewhere: (pair: Pair, about: About) => Promise<string | number | void>
  /** The decision here, as one value. */
  decide: (pair: Pair, about: About) => unknown
  /** That value where nothing was written elsewhere, and where it was. */
  outcomes: [before: unknown, after: unknown]
}

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code ?? error,
  )
function send({ here }: Pair, chatId: number): Promise<unknown> {
  const draft = readSend({ chatId, text: 'words' }, { textMax: 4096, sealsForBot: true })
  const clearance = here.approvals.clear({ client: null, chatId, messageId: null })
  if (clearance === null) throw new Error('it needs a word')
  return here.messages.deliver(draft, { seesPeople: true, clearance, stillMay: OWN_CALL })
}
const newEntry = async (): Promise<About> => ({ id: randomUUID() })
const request = async (
  { there: { outbox } }: Pair,
  { id }: About = { id: randomUUID() },
): Promise<About> => {
  await outbox.add(entryOf({ id, chatId: GROUP, createdAtMs: Date.now() }), WORDS)
  await outbox.change(id, ({ approval }) => {
    const requests = approval?.requests.map((one) => ({ ...one, messageId: 9 }))
    return approval && requests ? { approval: { ...approval, requests } } : null
  })
  return { id }
}
/** The approver approves here, by the code of a request. @returns the state of its entry */
async function approve({ here, there }: Pair, { id }: About): Promise<OutboxEntry['state'] | null> {
  const { outbox: entries, known, store } = here
  const fresh = (): Promise<void> => store.fresh()
  const hear = createHearing({ entries, journal: known.journal, fresh, nowMs: () => Date.now() })
  const place = { chatId: OFFICE, updateChatId: OFFICE, fromId: BOSS }
  const final = { verdict: 'verified', signer: 'f', signedAtMs: Date.now() } as const
  const word = `ok ${there.outbox.get(id)?.approval?.code}`
  await hear({ kind: 'message' }, [replyOf(word, place, { final })])
  return entries.get(id)?.state ?? null
}
const client = clientOf({ chats: ['all'] })
const CALLER = { client: client.name, credential: client.credential }
const CALL = { call: 'sendMessage', chatIds: [CHAT], textChars: 5 } as const
const added: Decision['both'] = async ({ there }) => {
  await there.known.clients.add(client)
  return { id: 'reporter' }
}
const removed: Decision['elsewhere'] = ({ there }) => there.known.clients.remove('reporter')
/** By table, each decision that depends on its rows. */
const DECISIONS: Record<FollowedTable, Record<string, Decision>> = {
  // the store itself reads it
  protection: {},
  // `test/wiring/in-force.test.ts`
  own_keys: {},
  chats: {
    'a readable send': {
      both: async (one) => {
        Object.assign(one.here.service.chat, { id: OPEN_GROUP, kind: 'group', mode: 'open' })
        await send(one, OPEN_GROUP)
      },
      elsewhere: async ({ there }) => {
        await there.knownChats.saw([{ chatId: OPEN_GROUP, kind: 'group', isProtected: true }])
        return OPEN_GROUP
      },
      decide: async (one) => {
        await codeOf(send(one, OPEN_GROUP))
        return one.here.sent.filter(({ text }) => text === 'words').length
      },
      outcomes: [2, 1],
    },
  },
  // `policy.test.ts`
  forgotten: {},
  people: {},
  certificates: {},
  key_changes: {},
  trust_policies: {},
  pins: {},
  clients: {
    'an earlier call of a client': {
      both: added,
      elsewhere: removed,
      decide: ({ here }) => codeOf(here.known.clients.admitLater(CALLER, CALL)),
      outcomes: ['done', 'postern_not_allowed'],
    },
    'the list of clients for the operator': {
      both: added,
      elsewhere: removed,
      decide: async ({ here }) => (await here.operations.clientList()).length,
      outcomes: [1, 0],
    },
  },
  // `test/updates/again.test.ts`
  cursors: {},
  outbox: {
    'an edit of a request': {
      both: newEntry,
      elsewhere: async (one, about) => void (await request(one, about)),
      decide: ({ here }) =>
        codeOf(here.door.outbox.refuseRequest({ chatId: OFFICE, messageId: '9' })),
      outcomes: ['done', 'postern_request_fixed'],
    },
    'a reply to a new request': {
      both: newEntry,
      elsewhere: async (one, about) => void (await request(one, about)),
      decide: approve,
      outcomes: [null, 'waiting'],
    },
    'the state of a call as its caller sees it': {
      both: newEntry,
      elsewhere: async (one, about) => void (await request(one, about)),
      decide: async ({ here }, { id }) =>
        (await (here.door.outbox as OutboxDoor).find(id))?.state ?? null,
      outcomes: [null, 'asked'],
    },
    'a second send of one id': {
      both: newEntry,
      elsewhere: async ({ there }, { id }) =>
        void (await there.outbox.add(entryOf({ id, chatId: 2 }), WORDS)),
      decide: async ({ here }, { id }) => (await here.outbox.add(entryOf({ id }), WORDS)).chatId,
      outcomes: [1, 2],
    },
  },
  flags: {},
  // `test/store/postgres`
  webhook: {},
}
const ROWS = (Object.keys(DECISIONS) as FollowedTable[]).flatMap((table) =>
  Object.entries(DECISIONS[table]).map(([name, decision]) => [name, table, decision] as const),
)

test.each(ROWS)('%s follows the `%s` of another sidecar', async (_name, table, decision) => {
  const outcomes: unknown[] = []
  for (const isWritten of [false, true]) {
    const one = await pair()
    const about = (await decision.both?.(one)) ?? { id: 'none' }
    // what both know has been read here
    one.played.wrote(table, about.id)
    await one.here.store.fresh()
    const row = isWritten ? await decision.elsewhere(one, about) : null
    if (isWritten) one.played.wrote(table, String(row ?? about.id))
    outcomes.push(await decision.decide(one, about))
  }
  expect(outcomes).toEqual(decision.outcomes)
})

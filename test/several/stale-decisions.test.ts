/**
 * Decisions that sidecars of one bot share, each made right after another sidecar has written what it
 * depends on: two bots over one store, of which one reads no change before it asks for it.
 */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { tokenHashOf } from '../../src/api/bot.ts'
import { SecretSource } from '../../src/config/secrets.ts'
import { settingsFrom } from '../../src/config/settings.ts'
import { Unseen } from '../../src/kernel/unseen.ts'
import { OutboxEntries } from '../../src/outbox/entries.ts'
import { createHearing, decide } from '../../src/outbox/hear.ts'
import type { FollowedTable, Store } from '../../src/store/store.ts'
import { SharedQueue, type SharedQueueParts } from '../../src/updates/shared-queue.ts'
import { Cursors } from '../../src/updates/cursors.ts'
import { createBot } from '../../src/wiring/bot.ts'
import { createLink } from '../../src/wiring/link.ts'
import { entryOf } from '../outbox/support.ts'
import { temporary } from '../store/support.ts'
import { replyOf } from '../support/approvals.ts'
import { clientOf } from '../support/client.ts'
import { playedClock } from '../support/played-clock.ts'
import { watchedLog } from '../support/watched-log.ts'
import { playedService } from '../updates/shared-scene.ts'
import { readSend } from '../../src/translate/draft.ts'
import { ALICE, BOT, CHAT, serve, storeWith, useCore } from '../wiring/core-scene.ts'
import { PlayedStore } from '../wiring/played-store.ts'

const { engine } = useCore()
const [GROUP, OFFICE] = [-70, 3]
const TOKEN = `pstn_${'t'.repeat(43)}`
const WEBHOOK = { url: 'https://bot.example/hook', secret: null }
const WORDS = Buffer.from(JSON.stringify({ chatId: GROUP, text: 'words' }))
const RULE = { chats: [GROUP], by: [815] }

async function sidecar(store: Store) {
  const secrets = { botToken: SecretSource.fromValue('t'), clientToken: null, passphrase: null }
  const settings = settingsFrom({
    upstream: { url: 'http://127.0.0.1:9' },
    dataDir: temporary(),
    approve: [RULE],
    cache: { chatSeconds: 3600, keyListSeconds: 3600 },
  })
  const log = watchedLog()
  const { link: played, service, sent } = serve()
  const real = createLink(settings, secrets, { log, ways: [] })
  const { calls, upstream } = played
  const poll = ({ signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
  const relay = async () => ({ envelope: { ok: true, result: new Unseen({ pending: 0 }) } })
  const link = {
    ...real,
    calls,
    botId: () => BOT,
    upstream: Object.assign(upstream, { poll, relay }),
  }
  const parts = { link: link as never, store, engine, resolveHost: async () => ['93.184.216.34'] }
  const bot = await createBot({ settings, secrets, log, parts })
  onTestFinished(async () => {
    await bot[Symbol.asyncDispose]()
    await real[Symbol.asyncDispose]()
  })
  await bot.core.publication?.compareNow()
  return { ...bot, service, sent, known: bot.core.known, outbox: bot.core.outbox }
}

async function pair() {
  const played = new PlayedStore(await storeWith('active'))
  const there = await sidecar(played.own)
  await there.core.knownChats.saw([{ chatId: OFFICE, kind: 'private' }])
  await there.operations.chatBind({ chatId: OFFICE, userId: 815 })
  const here = await sidecar(played.shared)
  return { here, there, played }
}
type Pair = Awaited<ReturnType<typeof pair>>

const codeOf = async (promise: Promise<unknown>): Promise<unknown> =>
  await promise.then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code ?? error,
  )
const send = ({ here }: Pair, chatId: number): Promise<unknown> => {
  const draft = readSend({ chatId, text: 'words' }, { textMax: 4096, sealsForBot: true })
  const clearance = here.core.approvals.clear({ client: null, chatId, messageId: null })
  if (clearance === null) throw new Error('it needs a word')
  return here.core.messages.deliver(draft, { seesPeople: true, clearance })
}
const askedIn = async ({ there }: Pair) => {
  const { id } = await there.outbox.add(entryOf({ chatId: GROUP, createdAtMs: Date.now() }), WORDS)
  await there.outbox.change(id, ({ approval }) => {
    if (approval === null) throw new Error('it needs no word')
    const requests = approval.requests.map((one) => ({ ...one, messageId: 9 }))
    return { approval: { ...approval, requests } }
  })
  return there.outbox.get(id)
}

/** The approver approves here, by the code of a request. @returns the state of its entry */
async function approve({ here }: Pair, about: unknown): Promise<string | undefined> {
  const { id = '', approval } = about as { id?: string; approval?: { code: string } }
  const { outbox: entries, known, store } = here.core
  const hear = createHearing({
    entries,
    journal: known.journal,
    fresh: () => store.fresh(),
    nowMs: () => Date.now(),
  })
  const place = { chatId: OFFICE, updateChatId: OFFICE, fromId: 815 }
  const postern = { verdict: 'verified', signer: 'f', signedAt: Date.now() }
  await hear({ kind: 'message' }, [replyOf(`ok ${approval?.code}`, place, { postern })])
  return entries.get(id)?.state
}

interface Decision {
  /** What both know before. */
  both?: (pair: Pair) => Promise<unknown>
  /** What the other sidecar writes. @returns the keys of the rows */
  elsewhere: (pair: Pair, about: unknown) => Promise<(string | number)[]>
  /** The decision here, as one value. */
  decide: (pair: Pair, about: unknown) => unknown
  /** That value where nothing was written elsewhere, and where it was. */
  outcomes: [before: unknown, after: unknown]
}

const client = clientOf({ name: 'reporter', credential: tokenHashOf(TOKEN), chats: ['all'] })
const SEND = { call: 'sendMessage', chatIds: [CHAT], textChars: 5 } as const
const addClient: Decision['both'] = ({ there }) => there.known.clients.add(client)
const removeClient: Decision['elsewhere'] = async ({ there }) => {
  await there.known.clients.remove('reporter')
  return ['reporter']
}
const idOf = (about: unknown): string => (about as { id: string }).id

/** By table, each decision that depends on its rows. */
const DECISIONS: Record<FollowedTable, Record<string, Decision>> = {
  // the store itself reads it: `replicas`
  protection: {},
  // `test/wiring/in-force.test.ts`
  own_keys: {},
  chats: {
    'a readable send': {
      both: async (one) => {
        Object.assign(one.here.service.chat, { id: -80, kind: 'group', mode: 'open' })
        await send(one, -80)
      },
      elsewhere: async ({ there }) => {
        await there.core.knownChats.saw([{ chatId: -80, kind: 'group', isProtected: true }])
        return [-80]
      },
      decide: async (one) => {
        await codeOf(send(one, -80))
        return one.here.sent.filter(({ text }) => text === 'words').length
      },
      outcomes: [2, 1],
    },
  },
  forgotten: {
    'the alias of a forgotten person': {
      both: ({ there }) => there.operations.trustBlock({ userId: 77 }),
      elsewhere: async ({ there, played }) => {
        await there.operations.personForget({ userId: 77 })
        const rows = await played.own.read((db) => db.selectFrom('forgotten').selectAll().execute())
        return rows.map(({ person }) => person)
      },
      decide: async ({ here }) => {
        await here.operations.trustList()
        return here.known.forgotten.aliasOf(77) !== undefined
      },
      outcomes: [false, true],
    },
  },
  // what rests on these is read with `pins`
  people: {},
  certificates: {},
  pins: {
    'a sealed send': {
      both: (one) => send(one, CHAT),
      elsewhere: async ({ there }) => {
        await there.operations.trustBlock({ userId: ALICE })
        return [ALICE]
      },
      decide: (one) => codeOf(send(one, CHAT)),
      outcomes: ['done', 'postern_trust_required'],
    },
  },
  key_changes: {},
  trust_policies: {
    'a sealed send under a policy': {
      both: (one) => send(one, CHAT),
      elsewhere: async ({ there }) => {
        await there.operations.trustPolicy({ chatId: null, policy: 'pinned' })
        return [0]
      },
      decide: (one) => codeOf(send(one, CHAT)),
      outcomes: ['done', 'postern_trust_required'],
    },
  },
  clients: {
    'a call of a client': {
      both: addClient,
      elsewhere: removeClient,
      decide: ({ here }) => codeOf(here.known.clients.admit(client, SEND)),
      outcomes: ['done', 'unauthorized'],
    },
    'an earlier call of a client': {
      both: addClient,
      elsewhere: removeClient,
      decide: ({ here }) => codeOf(here.known.clients.admitLater('reporter', SEND)),
      outcomes: ['done', 'postern_not_allowed'],
    },
    'the list of clients': {
      both: addClient,
      elsewhere: removeClient,
      decide: async ({ here }) => (await here.operations.clientList()).length,
      outcomes: [1, 0],
    },
  },
  cursors: {
    'an update for a client': {
      both: async ({ there, played }) => {
        await (await Cursors.load(there.core.store)).save(cursor(1))
        const { poller, service } = playedService()
        service.ids = [1, 2, 3]
        return { poller, cursors: await Cursors.load(played.shared), id: 'reporter' }
      },
      elsewhere: async ({ there }) => {
        await (await Cursors.load(there.core.store)).save(cursor(2))
        return ['reporter']
      },
      decide: async (_pair, about) => {
        const reporter = { name: 'reporter', sees: () => true }
        const { signal: stopping } = new AbortController()
        const queue = new SharedQueue({
          ...(about as Pick<SharedQueueParts, 'poller' | 'cursors'>),
          clock: playedClock(),
          turns: null,
          botHas: () => null,
          consumerOf: (name) => (name === 'reporter' ? reporter : null),
          stopping,
        })
        const found = await queue.next(reporter, stopping)
        return found.map(({ delivered }) => delivered.updateId)
      },
      outcomes: [[2, 3], [3]],
    },
  },
  outbox: {
    'an edit of a request': {
      elsewhere: async (one) => [idOf(await askedIn(one))],
      decide: ({ here }) =>
        codeOf(here.door.outbox.refuseRequest({ chatId: OFFICE, messageId: '9' })),
      outcomes: ['done', 'postern_request_fixed'],
    },
    'a reply to a request': {
      both: askedIn,
      elsewhere: async ({ there }, about) => {
        const { id, approval } = about as { id: string; approval: { code: string } }
        const by = { isApproved: false, userId: 816, messageId: 5, atMs: 0, fingerprint: 'f' }
        await decide(there.outbox, { id, code: approval.code, ...by })
        return [id]
      },
      decide: approve,
      outcomes: ['waiting', 'refused'],
    },
    'a reply to a new request': {
      both: async () => ({}),
      elsewhere: async (one, about) => {
        Object.assign(about as object, await askedIn(one))
        return [idOf(about)]
      },
      decide: approve,
      outcomes: [undefined, 'waiting'],
    },
    'a retry by the operator': {
      both: ({ there }) => refusedIn(there.outbox),
      elsewhere: async ({ there }, about) => {
        await there.outbox.settle(idOf(about), { state: 'sent', code: null, sentId: 7 }, 2)
        return [idOf(about)]
      },
      decide: ({ here }, about) =>
        codeOf(here.operations.outboxRetry({ id: idOf(about), readable: false })),
      outcomes: ['done', 'refused'],
    },
    'a second send of one id': {
      both: async () => ({ id: randomUUID() }),
      elsewhere: async ({ there }, about) => {
        await there.outbox.add(entryOf({ ...(about as { id: string }), chatId: 2 }), WORDS)
        return [idOf(about)]
      },
      decide: async ({ here }, about) =>
        (await here.outbox.add(entryOf({ ...(about as { id: string }), chatId: 1 }), WORDS)).chatId,
      outcomes: [1, 2],
    },
    'the state of an entry': {
      both: ({ there }) => refusedIn(there.outbox),
      elsewhere: async ({ there }, about) => {
        await there.outbox.wait(idOf(about), { isForSealed: true, nowMs: 0 })
        return [idOf(about)]
      },
      decide: async ({ here }, about) => {
        await here.operations.outboxList()
        return here.outbox.get(idOf(about))?.state
      },
      outcomes: ['refused', 'waiting'],
    },
  },
  flags: {
    'the permission of readable private chats': {
      elsewhere: async ({ there }) => {
        await there.core.knownChats.setPrivateReadable({ readable: true })
        return ['private_readable_at']
      },
      decide: async ({ here }) => {
        await here.operations.chatList()
        return here.core.knownChats.privateReadable
      },
      outcomes: [false, true],
    },
  },
  webhook: {
    'a poll beside a webhook': {
      elsewhere: async ({ there }) => {
        await there.updates.webhook.set(WEBHOOK)
        return [1]
      },
      decide: async ({ here }) => {
        await here.updates.storeReach.begin()
        return await codeOf(here.updates.webhook.refusePoll(new AbortController().signal))
      },
      outcomes: ['done', 'webhook_active'],
    },
    'a report of the webhook to the bot': {
      elsewhere: async ({ there }) => {
        await there.updates.webhook.set(WEBHOOK)
        return [1]
      },
      decide: async ({ here }) => (await here.updates.webhook.look())?.url ?? null,
      outcomes: [null, WEBHOOK.url],
    },
    'the status of deliveries': {
      elsewhere: async ({ there }) => {
        await there.updates.webhook.set(WEBHOOK)
        return [1]
      },
      decide: async ({ here }) => (await here.operations.status()).webhook?.origin ?? null,
      outcomes: [null, 'https://bot.example'],
    },
  },
}

const cursor = (updateId: number) => ({
  name: 'reporter',
  delivered: { updateId, mark: 'm' },
  given: 0,
})

async function refusedIn(outbox: OutboxEntries) {
  const entry = await outbox.add(entryOf({ chatId: 2 }), WORDS)
  await outbox.settle(entry.id, { state: 'refused', code: 'x' }, 1)
  return entry
}

const ROWS = Object.entries(DECISIONS).flatMap(([table, decisions]) =>
  Object.entries(decisions).map(
    ([name, decision]) => [name, table as FollowedTable, decision] as const,
  ),
)

test.each(ROWS)('%s follows the `%s` of another sidecar', async (_name, table, decision) => {
  const outcomes: unknown[] = []
  for (const isWritten of [false, true]) {
    const one = await pair()
    const about = await decision.both?.(one)
    // what both know has been read here
    one.played.wrote(table, (about as { id?: string } | undefined)?.id ?? 'reporter')
    await one.here.core.store.fresh()
    const rows = isWritten ? await decision.elsewhere(one, about) : []
    for (const row of rows) one.played.wrote(table, String(row))
    outcomes.push(await decision.decide(one, about))
  }
  expect(outcomes).toEqual(decision.outcomes)
})

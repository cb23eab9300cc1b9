/** The sidecar between its doors: store, keys, chats, guard, translation. */
import { LIMITS } from '../api/limits.ts'
import { Approvals, ClearFields, evidenceBy, Guard, loadKernel, Presses } from '../kernel/index.ts'
import type { Kernel } from '../kernel/index.ts'
import { Clients } from '../clients/clients.ts'
import { engineWithHolder, holderOf } from '../agent/held-engine.ts'
import { Modes } from '../service/lookups/modes.ts'
import { firstUseOf } from '../config/authorities.ts'
import { approvalRules, givenClients } from '../config/client-entry.ts'
import { ClientShares } from '../http/client-shares.ts'
import { Keyring } from '../keys/keyring.ts'
import { Publication } from '../keys/publication.ts'
import { createTransfer } from '../keys/transfer.ts'
import { BOUNDS, createEngine, type MeasuredEngine } from '../openpgp/index.ts'
import { OutboxEntries } from '../outbox/entries.ts'
import { createHearing } from '../outbox/hear.ts'
import { readBot } from '../store/flags.ts'
import { loadKeyUsage } from '../store/key-usage.ts'
import { memoryOf } from '../store/memory.ts'
import { lastMessageAtMs, Outcomes } from '../store/outcomes.ts'
import { scrubIfDue } from '../store/scrub.ts'
import { KeyTurn, SendFence } from '../store/postgres/send-fence.ts'
import { PROVEN_MS } from '../store/postgres/times.ts'
import type { Store } from '../store/store.ts'
import { loadKeyChanges, type KeyChanges } from '../translate/key-changes.ts'
import { Forgotten } from '../store/forgotten.ts'
import { createJournalHeads } from '../keys/journal-heads.ts'
import { previewChat, type ChatPreview } from '../translate/chat-preview.ts'
import { Incoming } from '../translate/incoming.ts'
import { Messages } from '../translate/messages.ts'
import { Outgoing } from '../translate/outgoing.ts'
import type { Answer } from '../service/client.ts'
import type { BotOptions, Link } from './link.ts'
import { createMedia } from './media.ts'
import { Directory } from '../service/lookups/directory.ts'
import { READERS } from '../service/lookups/readers.ts'
import { Names } from '../store/names.ts'
import { loadReplayMemory, openStoreFor, refuseRestored, serverFor } from './stores.ts'
import type { Purpose } from './stores.ts'

const DAY_MS = 86_400_000

/** Memory of chats and people, with the look-ups that fill it from the service. */
export interface Known extends Kernel {
  clients: Clients
  directory: Directory
  modes: Modes
  names: Names
  forgotten: Forgotten
  keyChanges: KeyChanges
}

/** The parts over a store. Their listeners are in `subscriptions.ts`. */
export type Core = Awaited<ReturnType<typeof createCore>>

/**
 * Opens the store and makes the parts over it.
 * @throws OperatorError for everything that keeps a store from opening
 */
export async function createCore(options: BotOptions, link: Link, purpose: Purpose) {
  await using stack = new AsyncDisposableStack()
  const base = await openBase(options, link, { purpose, stack })
  const { store, memory, engine, keyring } = base
  const keyUsage = stack.use(await loadKeyUsage(store))
  const outcomes = stack.use(new Outcomes(store))
  const known = await loadKnown(options, link, base)
  const journalHeads = stack.use(createJournalHeads({ ...base, ...known }))
  // a command signs heads after its decisions alone
  if (purpose === 'run') journalHeads.start()
  const publication = await createPublication(options, link, { ...base, stack })
  const wall = createWall(options, base, known)
  const named = purpose === 'run' ? known.clients.all : null
  const rules = approvalRules(options.settings.approve, named)
  const approvals = new Approvals({ ...known, rules })
  const textMax = (): number => link.limits().textMax
  const outbox = await OutboxEntries.load(base.store, { approvals, ...known, textMax })
  const parts = { ...base, known, ...wall, publication, outbox, stack }
  const { outgoing, ...rest } = await createDirections(options, link, parts)
  const resources = stack.move()
  return {
    store,
    engine,
    keyring,
    holder: base.holder,
    known,
    memory,
    journalHeads,
    outcomes,
    /** Calls for later; `wiring/bot.ts` makes the loop that sends them. */
    outbox,
    /** Which calls need a person's word, and whether it counts. */
    approvals,
    keyUsage,
    clientShares: new ClientShares({ ...known, ...link, cache: options.settings.cache }),
    /** Exports and imports secret keys. */
    transfer: createTransfer({ ...base, ownerOf: options.parts?.ownerOf ?? (() => null) }),
    knownChats: known.knownChats,
    modes: known.modes,
    ...wall,
    publication,
    messages: new Messages<Answer>({
      outgoing,
      clearFields: wall.clearFields,
      outcomes,
      send: (...call) => link.upstream.send(...call),
      edit: (...call) => link.upstream.edit(...call),
    }),
    /** Records up to where updates are confirmed, where any is opened (`ConfirmedUpdates`). */
    recordConfirmed: async (below: number): Promise<void> =>
      await rest.replayMemory?.confirmed.record(below),
    expectConfirmed: (below: number): void => rest.replayMemory?.confirmed.expect(below),
    ...rest,
    [Symbol.asyncDispose]: (): Promise<void> => resources.disposeAsync(),
  }
}

/** The parts that all others need. */
type Base = Awaited<ReturnType<typeof openBase>>

async function openBase(
  { settings, secrets, log, name, mayCreateStore = true, parts = {} }: BotOptions,
  link: Link,
  { purpose, stack }: { purpose: Purpose; stack: AsyncDisposableStack },
) {
  const server = await serverFor({ settings, secrets, parts }, stack)
  const database = server === null ? undefined : { server, schema: settings.store.schema }
  const store: Store =
    parts.store ??
    (await parts.opening) ??
    stack.use(
      await openStoreFor(
        { purpose, mayCreateStore },
        { settings, secrets, parts, database, botId: link.botId() },
      ),
    )
  const owner = await store.read(readBot)
  if (owner !== null) link.expectBot(owner)
  if (purpose === 'run') await refuseRestored(store, settings.dataDir)
  if (purpose === 'run') log.info({ protection: store.method }, 'the store is open')
  const { time } = link
  const nowMs = (): number => time.nowMs()
  const holder = stack.use(await holderOf(settings.key.agent, secrets.agentPin))
  const engine = engineWithHolder<MeasuredEngine>(
    parts.engine ?? stack.use(createEngine({ ...settings.openpgp, nowMs })),
    holder,
  )
  await scrubIfDue(store)
  // many bots of a process are idle when it starts
  if (name !== undefined) link.watch.noteTraffic(Date.now() - (await lastMessageAtMs(store)))
  const memory = memoryOf(store, nowMs)
  const keyring = await Keyring.load(memory, engine, {
    retainMs: settings.key.retainDays * DAY_MS,
    algorithm: settings.key.algorithm,
    time,
    serviceNowMs: () => (link.watch.skewMs === null ? null : nowMs() - link.watch.skewMs),
  })
  const fresh = (): Promise<void> => store.fresh()
  return { store, memory, nowMs, engine, keyring, holder, fresh }
}

async function loadKnown(
  { settings, log }: BotOptions,
  { calls, time }: Link,
  { store, memory, engine, keyring }: Base,
): Promise<Known> {
  const forgotten = await Forgotten.load(store)
  const { clocks } = keyring
  const { policy, continuity } = settings.trust
  const { firstUse, revoked } = await firstUseOf(settings.trust, engine)
  const evidence = evidenceBy({ engine, continuity, clocks, ...firstUse })
  if (revoked.length > 0) log.warn({ authorities: revoked }, 'authorities are revoked: none counts')
  const kernel = await loadKernel({
    memory,
    engine,
    policy,
    firstUse,
    evidence,
    own: () => keyring.fingerprints,
    clocks,
    readers: READERS,
    forgotten,
  })
  const given = givenClients(settings.clients.list)
  return {
    ...kernel,
    clients: await Clients.load({ ...kernel, memory, clock: clocks, given }),
    directory: new Directory({ calls, time, ...kernel }),
    modes: new Modes({ sightings: kernel.sightings, chat: calls.chat }),
    names: new Names(store),
    forgotten,
    keyChanges: await loadKeyChanges({ memory, ...kernel, policies: kernel.trust.policies }),
  }
}

/** Null when the sidecar manages no key. */
async function createPublication(
  { settings, log }: BotOptions,
  { calls }: Link,
  { store, keyring, fresh, stack }: Base & { stack: AsyncDisposableStack },
): Promise<Publication | null> {
  const { publish, rotateEveryDays } = settings.key
  const fence = store.isShared ? stack.use(await SendFence.load(store)) : null
  if (!publish) return null
  const rotateEveryMs = rotateEveryDays === undefined ? null : rotateEveryDays * DAY_MS
  const shared = fence === null ? null : { fence, fresh, turn: new KeyTurn({ store, fence }) }
  return stack.use(new Publication({ keyring, calls, log, rotateEveryMs, shared }))
}

/** The parts that decide whether a body may be sent. */
type Wall = ReturnType<typeof createWall>

function createWall(
  { settings }: BotOptions,
  { store, memory, keyring, fresh }: Base,
  { knownChats, modes }: Known,
) {
  const ownsKey = (): boolean => settings.key.publish || keyring.all.length > 0
  const guard = new Guard({
    fresh,
    epoch: () => memory.epoch,
    freshForMs: store.isShared ? PROVEN_MS : Infinity,
    knownChats,
    modes,
    time: keyring.time,
    ownsKey,
    sealsForBot: ownsKey(),
    readableGroups: settings.readableGroups,
    chatMaxAgeMs: settings.cache.chatSeconds * 1000,
  })
  const presses = new Presses(memory)
  return {
    guard,
    presses,
    clearFields: new ClearFields({ guard, presses, policy: settings.clearFields }),
  }
}

/** The parts that seal outgoing messages, and open incoming ones. */
async function createDirections(
  { settings, name }: BotOptions,
  link: Link,
  o: Base &
    Wall & {
      known: Known
      publication: Publication | null
      outbox: OutboxEntries
      stack: AsyncDisposableStack
    },
) {
  const { store, memory, keyring, engine, fresh, known, guard, presses, clearFields, stack } = o
  const { clocks: clock, time } = keyring
  const keyListMaxAgeMs = settings.cache.keyListSeconds * 1000
  const { botId } = link
  const shared = { ...known, botId, keyListMaxAgeMs, fresh, guard, keyring, engine, clock, time }
  const armoredMax = (): number => Math.min(link.limits().armoredMax, BOUNDS.messageChars)
  const hasKey = settings.key.publish || keyring.all.length > 0
  const replayMemory = hasKey ? await loadReplayMemory(store, memory, clock) : null
  const { audience, verify, normalizeText } = settings.open
  // a limit that was lowered since closes no message of before
  const readableMax = (): number => Math.max(LIMITS.armoredMax, armoredMax())
  const opening = replayMemory === null ? null : { ...shared, replayMemory, audience, readableMax }
  const { attachments, urls } = stack.use(
    await createMedia({ settings, link, store, memory, name }, opening),
  )
  const hear = createHearing({
    entries: o.outbox,
    journal: known.journal,
    fresh,
    nowMs: () => Math.max(clock.expiryNowMs(), time.nowMs()),
  })
  const { unusableRecipient } = settings.seal
  const outgoing = new Outgoing({
    ...shared,
    clearFields,
    replayMemory,
    publication: o.publication,
    armoredMax,
    unusableRecipient,
  })
  return {
    outgoing,
    /** Null when there is no key to open with and none will be made. */
    replayMemory,
    /** Previews a text for a chat, once the bot's key is published. */
    previewChat: (chatId: number): Promise<ChatPreview> =>
      previewChat(chatId, { ...shared, unusableRecipient }),
    attachments,
    incoming:
      opening === null || urls === null
        ? null
        : new Incoming({ ...opening, urls, presses, hear, verify, normalizeText }),
  }
}

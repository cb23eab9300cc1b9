/** What a sidecar is between its doors: store, keys, chats, guard, translation. */
import { KnownChats } from '../kernel/wall/known-chats.ts'
import { Modes } from '../lookups/modes.ts'
import { Presses } from '../kernel/wall/presses.ts'
import { ReplayMemory } from '../kernel/opening/replay-memory.ts'
import type { SecretSource } from '../config/secrets.ts'
import type { Secrets, Settings } from '../config/settings.ts'
import { Keyring } from '../kernel/own-key/keyring.ts'
import { Publication } from '../keys/publication.ts'
import { Transfer } from '../keys/transfer.ts'
import type { Memory } from '../kernel/index.ts'
import type { Log } from '../logger.ts'
import { BOUNDS, createEngine, type MeasuredEngine } from '../openpgp/index.ts'
import { readBot } from '../store/bot-of-store.ts'
import { KeyUsage } from '../store/key-usage.ts'
import { memoryOf } from '../store/memory.ts'
import { Outcomes } from '../store/outcomes.ts'
import { memoryGaps, restored, restoredFrom } from '../store/restored.ts'
import { scrubIfDue } from '../store/scrub.ts'
import { openStore, type StoreOpening } from '../store/open-store.ts'
import { KeyTurn } from '../replicas/key-turn.ts'
import { SendFence } from '../replicas/send-fence.ts'
import type { PostgresServer } from '../replicas/server.ts'
import type { Store } from '../store/store.ts'
import { previewChat, type ChatPreview } from '../translate/chat-preview.ts'
import { Guard } from '../kernel/wall/guard.ts'
import { Incoming } from '../translate/incoming.ts'
import type { Attachments } from '../translate/attachments.ts'
import { Messages } from '../translate/messages.ts'
import { ClearFields } from '../kernel/wall/clear-fields.ts'
import { Outgoing } from '../translate/outgoing.ts'
import type { Answer } from '../upstream/client.ts'
import { SYSTEM_TIME, type JudgingClock } from '../util/clock.ts'
import { loadPeopleState, type PeopleState } from './people-state.ts'
import type { Link } from './link.ts'
import { createMedia } from './media.ts'
import type { HandedInParts } from './parts.ts'

/** Their listeners are in `subscriptions.ts`. */
export interface Core extends AsyncDisposable {
  store: Store
  engine: MeasuredEngine
  keyring: Keyring
  peopleState: PeopleState
  outcomes: Outcomes
  keyUsage: KeyUsage
  /** Takes secret keys out and in. */
  transfer: Transfer
  knownChats: KnownChats
  modes: Modes
  guard: Guard
  /** Null when the sidecar manages no key (`key.publish: false`). */
  publication: Publication | null
  messages: Messages<Answer>
  /** What would become of a text for a chat, once the bot's key is published. */
  previewChat: (chatId: number) => Promise<ChatPreview>
  clearFields: ClearFields
  /** Null when there is no key to open with and none will be made. */
  replayMemory: ReplayMemory | null
  /** Records up to where updates are confirmed, where any is opened (`ConfirmedUpdates.record`). */
  recordConfirmed: (below: number) => Promise<void>
  /** Null when there is no key to open with and none will be made. */
  incoming: Incoming | null
  attachments: Attachments
}

const DAY_MS = 86_400_000
/** As long as a lock is believed without an answer of the database. */
const FRESH_FOR_MS = 2000

export interface CoreOptions {
  settings: Settings
  secrets: Secrets
  log: Log
  /** The bot's, where there are several. */
  name?: string
  /** False where there was a store, and none may take its place. */
  mayCreateStore?: boolean
  parts?: Pick<HandedInParts, 'engine' | 'store' | 'stretcher' | 'database' | 'ownerOf'>
}

/**
 * What a store is opened for: to `run` the sidecar, which needs just what the settings say; to
 * `begin` with a first key, which may make the store; or to `look` at one that is there.
 */
export type Purpose = 'run' | 'begin' | 'look'

/**
 * Opens the store and makes the parts over it.
 * @throws OperatorError for everything that keeps a store from opening
 */
export async function createCore(
  { settings, secrets, log, name, mayCreateStore = true, parts = {} }: CoreOptions,
  link: Link,
  purpose: Purpose,
): Promise<Core> {
  await using stack = new AsyncDisposableStack()
  const server = await serverFor({ settings, secrets, parts }, stack)
  const database = server === null ? undefined : { server, schema: settings.store.schema }
  const store =
    parts.store ??
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
  const engine = parts.engine ?? stack.use(createEngine())
  const { calls, botId, upstream } = link
  await scrubIfDue(store)
  const memory = memoryOf(store)
  const keyring = await Keyring.load(memory, engine, {
    retainMs: settings.key.retainDays * DAY_MS,
    time: SYSTEM_TIME,
    serviceNowMs: () => serviceNowMs(link),
  })
  const keyUsage = stack.use(await KeyUsage.load(store))
  const outcomes = stack.use(new Outcomes(store))
  const { policy } = settings.trust
  const own = (): ReadonlySet<string> => keyring.fingerprints
  const { clocks } = keyring
  const peopleState = await loadPeopleState({ store, memory, engine, calls, policy, own, clocks })
  const { journal } = peopleState
  const knownChats = await KnownChats.load(memory, { journal })
  const modes = new Modes({ knownChats, chat: calls.chat })
  const managesKey = settings.key.publish
  const { rotateEveryDays } = settings.key
  const fresh = (): Promise<void> => store.fresh()
  const fence = store.isShared ? stack.use(await SendFence.load(store)) : null
  const publication = managesKey
    ? stack.use(
        new Publication({
          keyring,
          calls,
          log,
          rotateEveryMs: rotateEveryDays === undefined ? null : rotateEveryDays * DAY_MS,
          shared: fence === null ? null : { fence, fresh, turn: new KeyTurn({ store, fence }) },
        }),
      )
    : null
  const hasKey = managesKey || keyring.all.length > 0
  const guard = new Guard({
    fresh,
    freshForMs: store.isShared ? FRESH_FOR_MS : Infinity,
    knownChats,
    modes,
    privateProtected: () => !knownChats.privateReadable && (managesKey || keyring.all.length > 0),
    sealsForBot: hasKey,
    readableGroups: settings.readableGroups,
    chatMaxAgeMs: settings.cache.chatSeconds * 1000,
  })
  const presses = new Presses(memory)
  const clearFields = new ClearFields({ guard, presses, policy: settings.clearFields })
  const keyListMaxAgeMs = settings.cache.keyListSeconds * 1000
  const asked = { botId, keyListMaxAgeMs }
  const shared = {
    ...peopleState,
    ...asked,
    fresh,
    knownChats,
    modes,
    guard,
    keyring,
    engine,
    clock: clocks,
  }
  const replayMemory = hasKey ? await loadReplayMemory(store, memory, clocks) : null
  const { audience, verify, normalizeText } = settings.open
  const opening = replayMemory === null ? null : { ...shared, replayMemory, audience }
  const { attachments, urls } = stack.use(
    await createMedia({ settings, link, store, memory, name }, opening),
  )
  const { unusableRecipient } = settings.seal
  const outgoing = new Outgoing({
    ...shared,
    clearFields,
    replayMemory,
    publication,
    armoredMax: () => Math.min(link.limits().armoredMax, BOUNDS.messageChars),
    unusableRecipient,
  })
  const resources = stack.move()
  return {
    store,
    engine,
    keyring,
    peopleState,
    outcomes,
    keyUsage,
    transfer: new Transfer({ memory, engine, keyring, ownerOf: parts.ownerOf ?? (() => null) }),
    knownChats,
    modes,
    guard,
    publication,
    replayMemory,
    recordConfirmed: async (below) => await replayMemory?.confirmed.record(below),
    previewChat: (chatId) => previewChat(chatId, { ...shared, unusableRecipient }),
    clearFields,
    messages: new Messages({
      outgoing,
      clearFields,
      outcomes,
      send: (outbound) => upstream.send(outbound),
      edit: (outbound) => upstream.edit(outbound),
    }),
    attachments,
    incoming:
      opening === null || urls === null
        ? null
        : new Incoming({ ...opening, urls, presses, verify, normalizeText }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** The database that the store is in; null where it is in a folder. */
async function serverFor(
  { settings, secrets, parts = {} }: Pick<CoreOptions, 'settings' | 'secrets' | 'parts'>,
  stack: AsyncDisposableStack,
): Promise<PostgresServer | null> {
  if (parts.store !== undefined) return null
  if (parts.database !== undefined) return parts.database
  if (secrets.storeUrl === undefined) return null
  return stack.use(await connectDatabase(secrets.storeUrl, settings.store))
}

/**
 * Loads the client of PostgreSQL, and makes no connection yet. The caller disposes of the server
 * after the stores.
 * @param o `isOfSeveral` the server holds the stores of several bots
 * @throws OperatorError `settings` when the URL is wrong
 */
export async function connectDatabase(
  url: SecretSource,
  { caFile, isOfSeveral = false }: { caFile?: string | undefined; isOfSeveral?: boolean },
): Promise<PostgresServer> {
  const { PostgresServer: Server } = await import('../replicas/server.ts')
  return new Server({ url: url.reveal(), caFile, isOfSeveral })
}

async function openStoreFor(
  { purpose, mayCreateStore }: { purpose: Purpose; mayCreateStore: boolean },
  {
    settings,
    secrets,
    parts,
    database,
    botId,
  }: Pick<CoreOptions, 'settings' | 'secrets' | 'parts'> & {
    database: StoreOpening['database']
    botId: number | null
  },
): Promise<Store> {
  return await openStore({
    ...(database === undefined ? {} : { database }),
    dataDir: settings.dataDir,
    botId,
    mode: purpose === 'look' ? 'existing' : mayCreateStore ? 'create' : 'claim',
    passphrase: secrets.passphrase?.reveal() ?? null,
    protection: settings.key.protection,
    isRequired: settings.key.publish,
    isBinding: purpose === 'run',
    stretcher: parts?.stretcher,
    howToMakePassphrase: secrets.howToMakePassphrase,
  })
}

/** @throws Refusal `postern_locked` when the store has no protection */
export async function loadReplayMemory(
  store: Store,
  memory: Memory,
  clock: JudgingClock,
): Promise<ReplayMemory> {
  const [key, gaps] = [await store.secret('seen'), await memoryGaps(store)]
  return await ReplayMemory.load(memory, { key, gaps, clock })
}

/** @throws OperatorError `store-restored` until the operator has accepted a restored store */
async function refuseRestored(store: Store, dataDir: string): Promise<void> {
  const takenAt = await restoredFrom(store)
  if (takenAt !== null) throw restored(dataDir, takenAt)
}

/** The time by the service's clock, ms since the epoch; null while unknown. */
function serviceNowMs({ watch }: Link): number | null {
  return watch.skewMs === null ? null : Date.now() - watch.skewMs
}

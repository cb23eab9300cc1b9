/** What a sidecar is between its doors: store, keys, chats, guard, translation. */
import { Facts } from '../chats/facts.ts'
import { Modes } from '../chats/modes.ts'
import { Outcomes } from '../chats/outcomes.ts'
import { Seen } from '../chats/seen.ts'
import type { Secrets, Settings } from '../config/settings.ts'
import { Keyring } from '../keys/keyring.ts'
import { isReady } from '../keys/own-key.ts'
import { Openings, type OpenedKind } from '../keys/openings.ts'
import { Publication, type PublicationState } from '../keys/publication.ts'
import { Transfer } from '../keys/transfer.ts'
import type { Log } from '../logger.ts'
import type { Health, ReasonCode } from '../observe/health.ts'
import { createEngine } from '../pgp/create.ts'
import { KeyMetrics } from '../observe/key-metrics.ts'
import { showLoad } from '../observe/load-metrics.ts'
import type { Engine } from '../pgp/engine.ts'
import { BOUNDS } from '../pgp/bounds.ts'
import { restored, restoredFrom } from '../store/restored.ts'
import { openStore, type Store } from '../store/store.ts'
import { Guard } from '../translate/guard.ts'
import { Incoming } from '../translate/incoming.ts'
import type { Attachments } from '../translate/attachments.ts'
import { Outgoing } from '../translate/outgoing.ts'
import { loadAcquaintance, tellFull, type Acquaintance } from './acquaintance.ts'
import type { Link } from './link.ts'
import { createMedia } from './media.ts'
import { pruneHourly, tryWriting } from './upkeep.ts'

export interface Core extends AsyncDisposable {
  store: Store
  engine: Engine
  keyring: Keyring
  acquaintance: Acquaintance
  outcomes: Outcomes
  openings: Openings
  /** Takes secret keys out and in. */
  transfer: Transfer
  facts: Facts
  modes: Modes
  /** Null when the sidecar manages no key (`key.publish: false`). */
  publication: Publication | null
  outgoing: Outgoing
  /** Null when there is no key to open with and none will be made. */
  incoming: Incoming | null
  attachments: Attachments
}

const DAY_MS = 86_400_000

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
  { settings, secrets, log }: { settings: Settings; secrets: Secrets; log: Log },
  link: Link,
  purpose: Purpose,
): Promise<Core> {
  await using stack = new AsyncDisposableStack()
  const store = stack.use(
    await openStore({
      dataDir: settings.dataDir,
      mode: purpose === 'look' ? 'existing' : 'create',
      passphrase: secrets.passphrase?.reveal() ?? null,
      protection: settings.key.protection,
      isRequired: settings.key.publish,
      isBinding: purpose === 'run',
      howToMakePassphrase: secrets.howToMakePassphrase,
    }),
  )
  if (purpose === 'run') await mayRun(store, { dataDir: settings.dataDir, log })
  const engine = stack.use(
    createEngine({
      onThreadKilled: () => link.metrics.workerKilled(),
      onDisagreement: () =>
        log.error('a certificate was read in another way than openpgp.js does: it reads all now'),
    }),
  )
  const keyring = await Keyring.load(store, engine, {
    retainMs: settings.key.retainDays * DAY_MS,
    serviceNowMs: () => serviceNowMs(link),
  })
  const openings = stack.use(await Openings.load(store))
  const { calls, botId, health, metrics, alerts } = link
  const facts = await Facts.load(store, { onFull: () => tellFull('chats', { alerts, log }) })
  const modes = new Modes({ facts, chat: calls.chat })
  const { policy } = settings.trust
  const outcomes = stack.use(new Outcomes(store))
  const acquaintance = await loadAcquaintance({
    store,
    engine,
    calls,
    policy,
    metrics,
    alerts,
    log,
  })
  const managesKey = settings.key.publish
  const keyMetrics = new KeyMetrics(metrics.registry, {
    keys: () => keyring.all,
    situation: () => publication?.situation ?? null,
  })
  const publication = managesKey
    ? stack.use(
        new Publication({
          keyring,
          calls,
          log,
          clockSkewMs: () => link.watch.skewMs,
          rotateEveryMs:
            settings.key.rotateEveryDays === undefined
              ? null
              : settings.key.rotateEveryDays * DAY_MS,
          rotated: (outcome) => keyMetrics.rotated(outcome),
          changed: (state, detail) => tellHealth(health, { state, detail, facts }),
        }),
      )
    : null
  showLoad(metrics.registry, {
    threads: () => engine.load().threads,
    connections: () => link.upstream.load(),
    caches: () => {
      const { lists, people } = acquaintance.directory.lookups
      const { certificates } = engine.load()
      return { 'key-lists': lists, people, modes: modes.lookups, certificates }
    },
  })
  const noteOpening = (fingerprint: string, kind: OpenedKind): void => {
    openings.note(fingerprint, kind)
    keyMetrics.opened(keyring.find(fingerprint)?.state ?? 'destroyed')
  }
  const guard = new Guard({
    facts,
    modes,
    privateProtected: () => !facts.privateReadable && (managesKey || keyring.all.length > 0),
    sealsForBot: managesKey || keyring.all.length > 0,
    readableGroups: settings.readableGroups,
    chatMaxAgeMs: settings.cache.chatSeconds * 1000,
  })
  const keyListMaxAgeMs = settings.cache.keyListSeconds * 1000
  const asked = { botId, keyListMaxAgeMs }
  const shared = { ...acquaintance, ...asked, facts, modes, guard, keyring, engine }
  const opens = managesKey || keyring.all.length > 0
  const seen = opens ? await Seen.load(store) : null
  if (seen !== null) {
    const keysSinceMs = (): number | null => openingSince(keyring)
    stack.use(pruneHourly(seen, { skewMs: () => link.watch.skewMs, keysSinceMs }))
  }
  const { audience } = settings.open
  const opening = seen === null ? null : { ...shared, seen, audience }
  const { attachments, urls } = stack.use(
    await createMedia(
      { settings, link, store },
      opening && { ...opening, onOpened: (key) => noteOpening(key, 'media') },
    ),
  )
  store.onWritable((writable) => link.watch.writable(writable))
  link.onStoreTrial(() => tryWriting(store))
  link.onBot((bot) => publication?.observe(bot))
  link.onRevived(() => publication?.suspect())
  if (publication?.state === 'unpublished') health.set('key-unpublished', '')
  const resources = stack.move()
  return {
    store,
    engine,
    keyring,
    acquaintance,
    outcomes,
    openings,
    transfer: new Transfer({ store, engine, keyring }),
    facts,
    modes,
    publication,
    outgoing: new Outgoing({
      ...shared,
      seen,
      publication,
      chat: calls.chat,
      armoredMax: () => Math.min(link.limits().armoredMax, BOUNDS.messageChars),
      unusableRecipient: settings.seal.unusableRecipient,
    }),
    attachments,
    incoming:
      opening === null || urls === null
        ? null
        : new Incoming({
            ...opening,
            urls,
            verify: settings.open.verify,
            normalizeText: settings.open.normalizeText,
            onJudged: (judged) => {
              for (const { verdict, tookMs, openedWith } of judged) {
                metrics.opened({ verdict, ms: tookMs ?? 0 })
                if (openedWith !== null) noteOpening(openedWith, 'message')
              }
              outcomes.received(judged)
            },
          }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** @throws OperatorError `store-restored` until the operator has accepted a restored store */
async function mayRun(
  store: Store,
  { dataDir, log }: { dataDir: string; log: Log },
): Promise<void> {
  const takenAt = await restoredFrom(store)
  if (takenAt !== null) throw restored(dataDir, takenAt)
  log.info({ protection: store.method }, 'the store is open')
}

/** When the oldest key was made that still opens, ms since the epoch; null when there is none. */
function openingSince({ all }: Keyring): number | null {
  const made = all.flatMap((key) => (isReady(key) ? [key.createdAtMs] : []))
  return made.length === 0 ? null : Math.min(...made)
}

/** The time by the service's clock, ms since the epoch; null while unknown. */
function serviceNowMs({ watch }: Link): number | null {
  return watch.skewMs === null ? null : Date.now() - watch.skewMs
}

const REASON_OF: Record<Exclude<PublicationState, 'published'>, ReasonCode> = {
  unpublished: 'key-unpublished',
  conflict: 'key-conflict',
  expired: 'key-expired',
  unprotected: 'bot-unprotected',
}

/** Without a key by the operator's word, the bot is as ready as it is meant to be. */
function tellHealth(
  health: Health,
  { state, detail, facts }: { state: PublicationState; detail: string; facts: Facts },
): void {
  for (const code of Object.values(REASON_OF)) {
    if (state === 'published' || REASON_OF[state] !== code) health.clear(code)
  }
  if (state === 'published' || (state === 'unprotected' && facts.privateReadable)) {
    return health.clear('bot-unprotected')
  }
  health.set(REASON_OF[state], detail)
}

/** Operations on the parts, with or without a running sidecar, and without a store. */
import { bindOperations, OPERATIONS, type Operations } from '../operators/operations.ts'
import type { OpenReport, StatusReport } from '../operators/reports.ts'
import type { CheckLine } from '../operators/doctor/check-line.ts'
import { examine, examineSettings } from '../operators/doctor/examine.ts'
import type { Configured, ExaminedService } from '../operators/doctor/examine.ts'
import type { OperatorError } from '../errors.ts'
import { fingerprintOf } from '../keys/driver.ts'
import { deriveCalls } from '../util/operation.ts'
import { copiesIn, whatIsThere } from '../store/inspect.ts'
import type { Core } from './core.ts'
import type { Link } from './link.ts'
import type { Updates } from './updates.ts'
import { keyAccess } from '../config/key-commands.ts'
import type { Settings } from '../config/settings.ts'
import { VERSION } from '../config/version.ts'
import { iso } from '../operators/operation.ts'
import { rotationReport } from '../operators/rotation.ts'

/** Every operation over an open store; `updates` is null where no sidecar runs. */
export function buildOperations(
  options: Configured,
  parts: { link: Link; core: Core; updates: Updates | null },
): Operations {
  const { settings } = options
  const { link, core } = parts
  const startedAt = new Date().toISOString()
  const opened = { ...core, ...core.known }
  const operations = bindOperations({
    ...opened,
    wrapper: keyAccess(settings.key).wrapper,
    mustSeal: (chatId) => core.guard.mustSeal(chatId),
    botId: link.botId,
    storeCopies: () => copiesIn(settings.dataDir),
    publishedKey: async () => fingerprintOf(await link.calls.me()),
    onPrivateReadable: () => link.health.clear('bot-unprotected'),
    status: () => describeStatus(settings, { ...parts, startedAt }),
    check: (about) => examine(about, options, serviceOf(link), opened),
    open: (armored) => openForOperator(armored, core),
  })
  return deriveCalls(OPERATIONS, async (name, input) => {
    // an unreachable database: memory is shown as last read, and changes are refused by themselves
    await core.store.fresh().catch(() => undefined)
    return await (operations[name] as (input: object) => Promise<unknown>)(input)
  })
}

/** The operations when no store opens: the doctor runs its checks, every other is refused. */
export function buildOperationsWithoutStore(
  options: Configured,
  link: Link,
  problem: OperatorError,
): Operations {
  const { dataDir } = options.settings
  const isFirst = problem.code === 'store-missing' && whatIsThere(dataDir) === 'none'
  return {
    ...deriveCalls(OPERATIONS, () => Promise.reject(problem)),
    check: ({ about }) => examine(about, options, serviceOf(link), isFirst ? null : problem),
  }
}

/** Checks all that settings configure, for when another process has the store open. */
export const checkSettings = async (options: Configured, link: Link): Promise<CheckLine[]> =>
  (await examineSettings(options, serviceOf(link))).lines

const serviceOf = ({ calls, limits, watch }: Link): ExaminedService => ({
  me: calls.me,
  limits,
  skewMs: () => watch.skewMs,
})

/**
 * Opens an armored message (`postern open`). There is no sender here whose certificate could be
 * fetched: only signatures of our own can be verified.
 */
async function openForOperator(armored: string, core: Core): Promise<OpenReport> {
  const { engine, keyring } = core
  const opened = await engine.open(armored, keyring.unlocked)
  if (opened.outcome !== 'opened') {
    const reason = 'reason' in opened ? opened.reason : undefined
    const verdict = opened.outcome === 'not-encrypted' ? 'damaged' : opened.outcome
    return { opened: false, verdict, reason: reason ?? opened.outcome }
  }
  const { text } = opened
  if (opened.signatures.length === 0) return { opened: true, text, verdict: 'unsigned' }
  for (const { certificate, fingerprint } of keyring.all) {
    const results = await engine.verify(opened.signed, certificate, Date.now())
    if (results.includes('valid')) {
      return { opened: true, text, verdict: 'verified', signer: fingerprint }
    }
  }
  const issuer = opened.signatures[0]?.issuerKeyId ?? 'nobody'
  return { opened: true, text, verdict: 'unknown-signer', reason: `signed by key ${issuer}` }
}

/** The sidecar's state, for `postern status` and `/status`. */
export function describeStatus(
  settings: Settings,
  parts: { link: Link; core: Core; updates: Updates | null; startedAt: string },
): StatusReport {
  const { link, core, updates, startedAt } = parts
  const bot = link.bot()
  const key = core.keyring.active ?? core.keyring.pending
  const chats = core.knownChats.all
  return {
    version: VERSION,
    pid: process.pid,
    startedAt,
    ready: link.health.ready,
    reasons: link.health.all(),
    warnings: link.warnings.all(),
    bot: bot && {
      id: bot.id,
      username: bot.username ?? '',
      mode: bot.mode,
      fingerprint: bot.fingerprint?.toLowerCase() ?? null,
    },
    key: key
      ? { fingerprint: key.fingerprint, state: key.state, publishedAt: iso(key.publishedAtMs) }
      : null,
    rotation: rotationReport(core.publication),
    upstream: { url: settings.upstream.url, reachable: link.watch.reachable },
    chats: {
      known: chats.length,
      latched: chats.filter(({ latchedAtMs }) => latchedAtMs !== null).length,
      refused: chats.filter(({ refusedAtMs }) => refusedAtMs !== null).length,
    },
    webhook: webhookOf(updates),
    updates: waitingOf(updates),
    calls: link.ownCalls(),
  }
}

function waitingOf(updates: Updates | null): StatusReport['updates'] {
  const { pending = null, oldestMs = null } = updates?.backlog.state ?? {}
  return { waiting: pending, oldestSeconds: oldestMs && Math.round(oldestMs / 1000) }
}

/** Omits the path of the webhook's url, which may be a secret of the bot. */
function webhookOf(updates: Updates | null): StatusReport['webhook'] {
  const own = updates?.webhook.own ?? null
  if (own === null) return null
  const { url, failures, lastError, nextAttemptAt } = own
  return { origin: new URL(url).origin, failures, lastError, nextAttemptAt: iso(nextAttemptAt) }
}

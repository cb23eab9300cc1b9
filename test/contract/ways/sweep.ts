import type { Control } from '../../../src/sandbox/control/table.ts'
import { ok, okList } from '../expect.ts'
import type { Stage } from '../stage.ts'
import type { RunningSidecar } from './sidecar.ts'

/** Above every update id. */
const PAST_ALL = 999_999_999_999
/** Longer than the longest rate window. */
const PAST_WINDOWS_MS = 61_000

/** What the last case may have left behind. */
export interface Swept {
  control: Control
  sidecar: RunningSidecar | null
  stage: Stage
  handOver: (token: string) => Promise<void>
}

/**
 * Makes the world as a case expects to find it: the bot at work, unblocked and with the token it
 * knows, no webhook and no commands, nothing queued, every rate window free.
 */
export async function sweep({ control, sidecar, stage, handOver }: Swept): Promise<void> {
  const botId = stage.me.id
  await control.clearFaults()
  await stage.advance(PAST_WINDOWS_MS)
  await control.resume({ botId })
  await control.changeBot({ botId, privacyMode: true, allowGroups: true })
  await Promise.all([stage.alice.unblock(), stage.bob.unblock()])
  const isKnown = (await stage.past.get('/me')).status !== 401
  if (!isKnown) await handOver((await control.issueToken({ botId })).token)
  const { me } = await control.bot({ botId })
  await restoreKey({ control, sidecar, botId }, me['fingerprint'])
  if (sidecar !== null) ok(await stage.bot.delete('/webhook'))
  await stage.past.delete('/webhook')
  for (const { scope } of okList(await stage.past.get('/commands'))) {
    await control.setCommands({ botId, scope: String(scope), commands: [] })
  }
  await stage.past.get(`/updates?offset=${PAST_ALL}`)
  await stage.advance(PAST_WINDOWS_MS)
  await control.clearTranscript()
}

/** No key without a managing sidecar, else the sidecar's own. */
async function restoreKey(
  { control, sidecar, botId }: { control: Control; sidecar: RunningSidecar | null; botId: number },
  shown: unknown,
): Promise<void> {
  const [own] = (await sidecar?.operations.keyList()) ?? []
  if (own === undefined) {
    if (shown !== null) await control.removeKey({ botId })
    return
  }
  if (shown !== own.fingerprint) await sidecar?.operations.keyPublish({ replace: true })
}

import type { Sandbox } from '../../../src/sandbox/create.ts'
import { ok, okList } from '../expect.ts'
import type { Stage } from '../stage.ts'
import type { RunningSidecar } from './sidecar.ts'

/** Above every update id. */
const PAST_ALL = 999_999_999_999
/** Longer than the longest rate window. */
const PAST_WINDOWS_MS = 61_000

/** What the last case may have left behind. */
export interface Swept {
  sandbox: Sandbox
  sidecar: RunningSidecar | null
  stage: Stage
  handOver: (token: string) => Promise<void>
}

/**
 * Makes the world as a case expects to find it: the bot at work, unblocked and with the token it
 * knows, no webhook and no commands, nothing queued, every rate window free.
 */
export async function sweep({ sandbox, sidecar, stage, handOver }: Swept): Promise<void> {
  const { control } = sandbox
  const botId = stage.me.id
  sandbox.clearFaults()
  await stage.advance(PAST_WINDOWS_MS)
  await control.resume({ botId })
  await control.changeBot({ botId, privacyMode: true, allowGroups: true })
  await Promise.all([stage.alice.unblock(), stage.bob.unblock()])
  const known = sandbox.bots.find(({ id }) => id === botId)?.token ?? ''
  if (known === '') await handOver((await control.issueToken({ botId })).token)
  else if (known !== stage.past.token) await handOver(known)
  const { me } = await control.bot({ botId })
  await restoreKey({ sandbox, sidecar, botId }, me['fingerprint'])
  if (sidecar !== null) ok(await stage.bot.delete('/webhook'))
  await stage.past.delete('/webhook')
  for (const { scope } of okList(await stage.past.get('/commands'))) {
    await control.setCommands({ botId, scope: String(scope), commands: [] })
  }
  await stage.past.get(`/updates?offset=${PAST_ALL}`)
  await stage.advance(PAST_WINDOWS_MS)
  sandbox.transcript.clear()
}

/** No key without a managing sidecar, else the sidecar's own. */
async function restoreKey(
  { sandbox, sidecar, botId }: { sandbox: Sandbox; sidecar: RunningSidecar | null; botId: number },
  shown: unknown,
): Promise<void> {
  const [own] = (await sidecar?.operations.keyList()) ?? []
  if (own === undefined) {
    if (shown !== null) await sandbox.control.removeKey({ botId })
    return
  }
  if (shown !== own.fingerprint) await sidecar?.operations.keyPublish({ replace: true })
}

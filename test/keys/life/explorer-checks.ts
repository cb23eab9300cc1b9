/** What must be true of every life of the key. */
import { requirePublished, type Facts } from '../../../src/kernel/own-key/key-state.ts'
import { apply, crash, factsOf, HOUR_MS, identityOf, outcomes, reread } from './explorer.ts'
import type { Sidecar, World } from './explorer.ts'

/** @throws Error where a world is wrong */
export function check(world: World): void {
  const fail = (what: string): never => {
    throw new Error(`${what}:\n${world.path.join('\n')}\n${JSON.stringify(world, null, 1)}`)
  }
  const of = (state: string) => world.disk.filter((key) => key.state === state)
  const [active, pending] = [of('active'), of('pending')]
  if (active.length > 1) fail('two keys are published')
  if (pending.length > 1) fail('two keys wait')
  for (const print of world.given) {
    const key = world.disk.find(({ fingerprint }) => fingerprint === print)
    if (key === undefined) fail('a key that the service knows is lost')
    if (key?.state === 'pending' && key.offeredAtMs === null) fail('a given key counts as unknown')
  }
  const newer = active[0]
  if (newer !== undefined && of('retired').some((key) => key.createdAtMs > newer.createdAtMs)) {
    fail('an older key took the place of a newer one')
  }
  for (const [n, sidecar] of world.sidecars.entries()) {
    const { action } = sidecar
    const discarded = action?.kind === 'discard' ? action.fingerprint : null
    const isKnown = world.disk.some(
      (key) => key.fingerprint === discarded && key.offeredAtMs !== null,
    )
    if (isKnown) fail('a key is discarded that the service may know')
    if (action?.kind === 'put-key') {
      const key = world.disk.find(({ fingerprint }) => fingerprint === action.fingerprint)
      if (key === undefined) fail('a key is published that is not on disk')
      if (key?.state !== 'pending' && key?.state !== 'active') fail('an old key is published')
      if (key?.state === 'active' && pending.length > 0) fail('a step back')
      if (key?.offeredAtMs === null) fail('a key is published before that is on disk')
      const { task } = sidecar.life
      const { before = null, errand = null } =
        task.step === 'putting' ? { ...task.attempt, ...task } : {}
      const isOurs = world.disk.some(({ fingerprint }) => fingerprint === before)
      const isFirst = before === null && world.firstPublishedAtMs === null
      const isAllowed =
        isOurs || isFirst || errand === 'replace' || (errand === 'publish' && before === null)
      if (!isAllowed) fail('a key is published over what the operator must decide about')
      if (world.raisedBy !== n) fail('a key is published while others send')
    }
    const isOut = sidecar.isGateClosed || (world.raisedBy !== null && world.raisedBy !== n)
    if (isOut || world.isMeddled || world.isLate) continue
    // a send has the keys fresh, once the fence lets it enter
    const fresh = reread(world, n)
    const signer = signerOf(fresh.sidecars[n]!, factsOf(world, { keys: world.disk }))
    if (signer !== null && signer !== world.shown)
      fail(`${n} signs by ${signer}, which is not shown`)
  }
}

function signerOf(sidecar: Sidecar, facts: Facts): string | null {
  try {
    return requirePublished(sidecar.life, facts).fingerprint
  } catch {
    return null
  }
}

/** Begins of recoveries that were checked. */
const recovered = new Set<string>()

/** With an honest service and no failure, one sidecar publishes our newest key, or reports why not. */
export function checkRecovery(world: World): void {
  let now: World = { ...world, shown: world.lagging ?? world.shown, lagging: null, turn: null }
  for (let n = 0; n < now.sidecars.length; n++) now = crash(now, n)
  const identity = identityOf(now)
  if (recovered.has(identity)) return
  recovered.add(identity)
  for (let round = 0; round < 3; round++) {
    now = apply({ ...reread(now, 0), turn: 0 }, 0, { kind: 'asked', errand: 'compare' })
    for (let steps = 0; now.sidecars[0]?.action != null; steps++) {
      if (steps > 60) throw new Error(`it never ends:\n${world.path.join('\n')}`)
      const [, after, result] = outcomes(now, 0, now.sidecars[0].action)[0]!
      now = apply(after, 0, result)
    }
    now = { ...now, turn: null, nowMs: now.nowMs + 2 * HOUR_MS }
  }
  const { life } = now.sidecars[0]!
  const ours = now.disk.find(({ fingerprint }) => fingerprint === now.shown)
  const isPublished =
    life.publication === 'published' &&
    ours?.state === 'active' &&
    now.raisedBy === null &&
    !now.disk.some(({ state }) => state === 'pending')
  const lost = now.shown === null ? 'unprotected' : ours === undefined ? 'conflict' : null
  const isReported = lost !== null && life.publication === lost
  if (!isPublished && !isReported) {
    throw new Error(`it does not recover, ${life.publication}:\n${world.path.join('\n')}`)
  }
}

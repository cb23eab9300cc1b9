/** Each reason of `/readyz` begins with its fault, is visible everywhere, and ends by itself. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HEALTH_FAULTS } from '../faults/health-faults.ts'
import { HealthStage } from '../faults/health-stage.ts'

let stage: HealthStage
beforeAll(async () => {
  stage = await HealthStage.begin({ inside: true })
})
afterAll(() => stage[Symbol.asyncDispose]())

/** Calls of the bot, which show the sidecar a fault sooner than its own probes do. */
async function callService(): Promise<void> {
  for (const path of ['/commands', '/me']) await stage.call('GET', path).catch(() => undefined)
}

/** The probe, machines, people and metrics show a reason. */
async function expectShown(code: string): Promise<void> {
  const { sidecar } = stage
  await sidecar.whenReason(code)
  expect((await sidecar.readiness()).status).toBe(503)
  const status: unknown = await (await fetch(`${sidecar.adminUrl}/status`)).json()
  expect(status).toMatchObject({
    ready: false,
    reasons: expect.arrayContaining([expect.objectContaining({ code })]) as unknown,
  })
  const metrics = await (await fetch(`${sidecar.adminUrl}/metrics`)).text()
  expect(metrics).toContain(`postern_reason{code="${code}"} 1`)
  expect(metrics).toContain('postern_ready 0')
}

/** Those that need no other programs, and no minutes. */
const SLOW = new Set(['key-expired', 'webhook-failing', 'second-poller', 'store'])
const FAULTS = HEALTH_FAULTS.filter(
  ({ code, cause }) => !SLOW.has(code) && !/answers none/.test(cause),
)

test.each(FAULTS)(
  'the reason $code begins when $cause, and ends after its repair',
  async (fault) => {
    await fault.prepare?.(stage)
    await fault.strike(stage)
    await callService()
    await expectShown(fault.code)
    await fault.mend(stage)
    await callService()
    await stage.sidecar.whenReady()
  },
)

test('`status --ready` prints the reason `starting` of a service that was never reached', async () => {
  await stage.stop()
  await stage.sandbox.control.fault({ name: 'cut' })
  await stage.start()
  await expectShown('starting')
  const shown = await stage.sidecar.postern('status', '--ready')
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('  starting: ')])
  await stage.sandbox.control.clearFaults({})
  await stage.sidecar.whenReady()
  expect((await stage.sidecar.postern('status', '--ready')).code).toBe(0)
})

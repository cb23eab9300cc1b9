import { describe } from 'vitest'
import { SandboxDriver } from './ways/sandbox-driver.ts'
import { testAll } from './ways/tests.ts'

/** None is the specification's, and the cases can reach each. */
const limits = {
  textMax: 100,
  armoredMax: 200_000,
  keyboardRows: 2,
  buttonsPerRow: 2,
  buttonsTotal: 3,
  buttonTextMax: 10,
  callbackDataBytes: 30,
  callbackAnswerMax: 300,
  callbackWindowMs: 20_000,
  pollTimeoutMaxS: 90,
  pollLimitMax: 7,
  sendsPerSecond: 31,
  sendsPerGroupPerMinute: 23,
  sendsPerPrivatePerSecond: 2,
  lookupsPerMinute: 12,
  typingIntervalMs: 2000,
  publicKeyMax: 70_000,
  markupBytes: 2000,
  commandsPerScope: 5,
  retentionUpdates: 50,
}

describe('the suite against a service with other limits', () => {
  const calls = { apiCallsPerMinute: 77, apiCallsPerAddressPerMinute: 150 }
  const sizes = { deliveredTextMax: 90, webhookUrlMax: 500 }
  testAll(new SandboxDriver('direct', { limits: { ...limits, ...calls, ...sizes, urlMax: 900 } }))
})

describe('the suite through a sidecar before a service with other limits, one no number', () => {
  // A share of the calls is the sidecar's own, by the time of the machine.
  const calls = { apiCallsPerMinute: 700, apiCallsPerAddressPerMinute: 1500 }
  testAll(
    new SandboxDriver('protected', { limits: { ...limits, ...calls }, lies: { urlMax: 'many' } }),
  )
})

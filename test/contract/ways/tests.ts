import { afterAll, expect, test } from 'vitest'
import { ALL_CASES } from '../cases/all.ts'
import type { Driver } from '../driver.ts'
import type { SandboxDriver } from './sandbox-driver.ts'

/** Makes a test of every case; one that cannot be played in this way is skipped with its reason. */
export function testAll(driver: Driver): void {
  afterAll(() => driver[Symbol.asyncDispose]())
  for (const one of ALL_CASES) {
    const why = driver.whyNot(one)
    test(`${one.section}: ${one.name}`, async ({ skip }) => {
      if (why !== null) skip(why)
      await driver.play(one)
    })
  }
}

/** The same through a sidecar, whose answers were compared with the service’s on the way. */
export function testThroughSidecar(driver: SandboxDriver): void {
  testAll(driver)
  test('the sidecar passed on more than 500 answers of the service byte for byte', () => {
    expect(driver.compared).toBeGreaterThan(500)
  })
}

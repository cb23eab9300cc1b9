import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { has, lacks } from './support/lacks.ts'

test('`lacks` lists a missing program once, and no program that is there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lacks-'))
  vi.stubEnv('TESTS_RUN', folder)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  expect(lacks()).toEqual([])
  expect([has(false, 'go is not installed'), has(true, 'sq is not installed')]).toEqual([
    false,
    true,
  ])
  has(false, 'go is not installed')
  expect(lacks()).toEqual(['go is not installed'])
})

/** What tests of rotation ask again and again. */
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { expect } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import type { KeyRow } from '../../src/operators/keys.ts'
import type { StatusReport, RotationReport } from '../../src/operators/reports.ts'
import { openStore } from '../../src/store/open-store.ts'
import { Rows } from '../../src/store/records/rows.ts'
import type { SealedTable } from '../../src/store/row-seal.ts'
import type { Stage } from '../support/double-stage.ts'
import { PASSPHRASE, type Ended, type Sidecar } from '../support/sidecar.ts'

/** The keys of a running sidecar, newest first, as `postern key list` has them. */
export async function keysOf(sidecar: Sidecar): Promise<KeyRow[]> {
  await using control = await connectControl(sidecar.dataDir)
  if (control === null) throw new Error('the sidecar does not run')
  return await control.keyList()
}

/** `/status` on the admin door. */
export async function statusOf(sidecar: Sidecar): Promise<StatusReport> {
  return (await (await fetch(`${sidecar.adminUrl}/status`)).json()) as StatusReport
}

/** The rotation that `/status` shows. */
export async function rotationOf(sidecar: Sidecar): Promise<RotationReport | null> {
  return (await statusOf(sidecar)).rotation
}

/** One line of `/metrics`. */
export async function metricOf(sidecar: Sidecar, name: string): Promise<number> {
  const text = await (await fetch(`${sidecar.adminUrl}/metrics`)).text()
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? NaN)
}

/** Rotates by hand to the end. @returns the new fingerprint */
export async function rotate(stage: Stage): Promise<string> {
  const done = await stage.sidecar.postern('key', 'rotate')
  expect(done.code, done.stderr).toBe(0)
  return done.stdout.trim()
}

/** Fingerprints that were put to the service, each once, in order. */
export function putsOf({ double }: Stage): string[] {
  const all = double.calls('PUT', '/key').map(({ json }) => String(json.fingerprint))
  return [...new Set(all)]
}

/** What the service shows, in lower case. */
export function shownBy({ double }: Stage): string | null {
  return double.world.bot['fingerprint']?.toLowerCase() ?? null
}

/** One key active, shown by the service; as many others as are named, none of them pending. */
export async function expectSettled(stage: Stage, o: { retired: number }): Promise<void> {
  const keys = await keysOf(stage.sidecar)
  const states = keys.map(({ state }) => state).toSorted()
  expect(states).toEqual(['active', ...Array.from({ length: o.retired }, () => 'retired')])
  const active = keys.find(({ state }) => state === 'active')
  expect(shownBy(stage)).toBe(active?.fingerprint)
}

/** Changes the store of a sidecar that does not run. */
export function changeStore(dataDir: string, statement: string): void {
  const database = new DatabaseSync(join(dataDir, 'postern.db'))
  try {
    database.exec(statement)
  } finally {
    database.close()
  }
}

/** Changes rows of a table with MACs, in the store of a sidecar that does not run. */
export async function changeSealed(
  dataDir: string,
  table: SealedTable,
  change: object,
  where: object = {},
): Promise<void> {
  await using store = await openStore({ dataDir, passphrase: PASSPHRASE, mode: 'existing' })
  await store.write((db) => new Rows(db, store.rowSeal).change(table, where, change))
}

/** A command that must have failed with this code of ours. */
export function expectRefused(done: Ended, code: string, words: RegExp): void {
  expect(done.code, done.stderr).toBe(code === 'postern_key_conflict' ? 4 : 1)
  expect(done.stderr).toContain(`code: ${code}`)
  expect(done.stderr).toMatch(words)
}

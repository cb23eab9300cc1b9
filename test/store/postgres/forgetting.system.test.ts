/** A person who is forgotten by one sidecar of a store on PostgreSQL, as another one knows them. */
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { People } from '../../../src/kernel/people/people.ts'
import { Trust } from '../../../src/kernel/people/trust.ts'
import { PostgresServer } from '../../../src/store/postgres/server.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { memoryOf } from '../../../src/store/memory.ts'
import { Forgotten } from '../../../src/store/forgotten.ts'
import { verifyJournal } from '../../../src/operators/trust/verify-journal.ts'
import { agreeingClocks } from '../../support/judging-clock.ts'
import { freshSchema, hasPostgres, sharedCluster } from '../../support/postgres.ts'
import { temporary } from '../support.ts'

const [A, B] = ['a', 'b'].map((one) => one.repeat(40)) as [string, string]

async function sidecar(schema: string) {
  const { url } = await sharedCluster()
  const server = new PostgresServer({ url })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const database = { server, schema }
  const opening = {
    passphrase: 'words',
    protection: 'passphrase' as const,
    mode: 'create' as const,
  }
  const store = await openStore({ dataDir: temporary(), ...opening, database })
  onTestFinished(() => store[Symbol.asyncDispose]())
  const memory = memoryOf(store)
  const journal = new Journal(memory)
  const forgotten = await Forgotten.load(store)
  const people = await People.load(memory, forgotten)
  const clocks = agreeingClocks()
  const trust = await Trust.load({ memory, journal, people, policy: 'first-use', clocks })
  return { store, memory, journal, forgotten, trust }
}

describe.skipIf(!hasPostgres())('`Forgotten` with two sidecars', () => {
  test('two sidecars append to one journal chain, and a person that one forgets is forgotten at both', async () => {
    const schema = freshSchema()
    const [one, other] = [await sidecar(schema), await sidecar(schema)]
    const append = (n: number) =>
      (n % 2 === 0 ? one : other).journal.record([{ kind: 'blocked', userId: n, detail: {} }])
    await Promise.all(Array.from({ length: 20 }, (_, n) => append(n)))
    const verify = () =>
      verifyJournal({ store: one.store, engine: null as never, keyring: { all: [] } }, null)
    expect(await verify()).toMatchObject({ entries: 20, fault: null })

    await other.trust.saw([{ userId: 471_108, fingerprint: A }])
    await one.store.fresh()
    await one.forgotten.forget(471_108, one)
    await other.store.fresh()
    expect(other.trust.all).toEqual([])
    await other.trust.saw([{ userId: 471_108, fingerprint: B }])
    expect(other.trust.distrust(471_108, B, -5)).toBe('key-changed')
    expect(await verify()).toMatchObject({ fault: null })

    await other.forgotten.forget(471_108, other)
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 400_000)
    await other.forgotten.purge()
    vi.restoreAllMocks()
    const { rows } = await one.store.read((db) =>
      sql<{ key: string }>`SELECT key FROM ${sql.raw(`"${schema}".changes`)}`.execute(db),
    )
    expect(rows.map(({ key }) => key)).not.toContain('471108')
  })
})

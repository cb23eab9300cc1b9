/** Everything that is known of other people: certificates, whose they are, whom we trust. */
import { Certificates } from '../keys/certificates.ts'
import { Directory, type DirectoryCalls } from '../keys/directory.ts'
import { Journal } from '../keys/journal.ts'
import { KnownKeys } from '../keys/known-keys.ts'
import { KeyListHistory } from '../keys/key-list-history.ts'
import { People } from '../keys/people.ts'
import type { TrustPolicy } from '../keys/policies.ts'
import { Trust } from '../keys/trust.ts'
import type { Engine } from '../pgp/engine.ts'
import type { Store } from '../store/store.ts'

export interface PeopleState {
  people: People
  journal: Journal
  keyListHistory: KeyListHistory
  trust: Trust
  directory: Directory
  knownKeys: KnownKeys
}

/** Loads what the store has of other people. */
export async function loadPeopleState(o: {
  store: Store
  engine: Engine
  calls: DirectoryCalls
  /** Setting `trust.policy`. */
  policy: TrustPolicy
}): Promise<PeopleState> {
  const { store, engine, calls, policy } = o
  const journal = new Journal(store)
  const people = await People.load(store)
  const certificates = await Certificates.load(engine, store)
  const trust = await Trust.load({ store, journal, people, policy })
  const keyListHistory = new KeyListHistory(store, journal)
  const knownKeys = new KnownKeys(store)
  const known = { certificates, trust, journal, keyListHistory, knownKeys }
  const directory = new Directory({ calls, ...known })
  return { people, journal, keyListHistory, trust, directory, knownKeys }
}

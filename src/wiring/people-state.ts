/** Everything that is known of other people: certificates, whose they are, whom we trust. */
import { Certificates } from '../kernel/people/certificates.ts'
import type { Clocks } from '../kernel/own-key/clocks.ts'
import { Directory, type DirectoryCalls } from '../lookups/directory.ts'
import { Journal } from '../kernel/people/journal.ts'
import { KnownKeys } from '../kernel/people/known-keys.ts'
import { KeyListHistory } from '../kernel/people/key-list-history.ts'
import { Names } from '../store/names.ts'
import { PeopleObserver } from '../kernel/people/observe.ts'
import { People } from '../kernel/people/people.ts'
import type { Memory, TrustPolicy } from '../kernel/index.ts'
import { Findings } from '../kernel/people/findings.ts'
import { Trust } from '../kernel/people/trust.ts'
import type { Engine } from '../openpgp/index.ts'
import type { Store } from '../store/store.ts'

export interface PeopleState {
  people: People
  journal: Journal
  keyListHistory: KeyListHistory
  trust: Trust
  directory: Directory
  knownKeys: KnownKeys
  findings: Findings
  names: Names
}

/** Loads what the store has of other people. */
export async function loadPeopleState(o: {
  store: Store
  memory: Memory
  engine: Engine
  calls: DirectoryCalls
  /** Setting `trust.policy`. */
  policy: TrustPolicy
  /** Fingerprints of all keys that ever were the bot's, primary keys and subkeys. */
  own: () => ReadonlySet<string>
  clocks: Clocks
}): Promise<PeopleState> {
  const { store, memory, engine, calls, policy, own, clocks } = o
  const journal = new Journal(memory)
  const people = await People.load(memory)
  const certificates = await Certificates.load({ engine, memory, journal })
  const trust = await Trust.load({ memory, journal, people, policy, clocks })
  const keyListHistory = new KeyListHistory(memory, journal)
  const knownKeys = new KnownKeys(memory)
  const findings = new Findings(memory, journal, own)
  const known = { certificates, trust, keyListHistory, knownKeys, findings }
  const observer = new PeopleObserver(known)
  const directory = new Directory({ calls, observer, certificates })
  const names = new Names(store)
  return { people, journal, keyListHistory, trust, directory, knownKeys, findings, names }
}

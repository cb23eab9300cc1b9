/** The kernel over its memory of chats and people, with the one entry for sightings. */
import type { Engine } from '../openpgp/index.ts'
import type { ForgottenPeople, Memory, TrustPolicy } from './memory.ts'
import { Certificates } from './people/certificates.ts'
import { Journal } from './people/journal.ts'
import { KeyListHistory } from './people/key-list-history.ts'
import { KnownKeys } from './people/known-keys.ts'
import { PeopleObserver, type PeopleObserverParts } from './people/observe.ts'
import { People } from './people/people.ts'
import { Trust, type TrustParts } from './people/trust.ts'
import { Sightings, type Readers } from './sightings.ts'
import { KnownChats } from './wall/known-chats.ts'

export interface Kernel extends PeopleObserverParts {
  journal: Journal
  people: People
  knownChats: KnownChats
  sightings: Sightings
}

export async function loadKernel(o: {
  memory: Memory
  engine: Engine
  /** Setting `trust.policy`. */
  policy: TrustPolicy
  firstUse?: NonNullable<TrustParts['firstUse']>
  evidence?: PeopleObserverParts['evidence']
  /** Fingerprints of all keys that ever were the bot's, primary keys and subkeys. */
  own: () => ReadonlySet<string>
  clocks: TrustParts['clocks']
  readers: Readers
  forgotten?: ForgottenPeople
}): Promise<Kernel> {
  const { memory, engine, own, readers, forgotten } = o
  const journal = new Journal(memory)
  const people = await People.load(memory, forgotten)
  const certificates = await Certificates.load({ engine, memory, journal })
  const trust = await Trust.load({ ...o, journal, people })
  const observed = {
    certificates,
    trust,
    keyListHistory: new KeyListHistory(memory, journal),
    knownKeys: new KnownKeys(memory),
    own,
    evidence: o.evidence,
  }
  await memory.keep('forgotten', async () => {
    observed.keyListHistory.forgetDigests()
    observed.knownKeys.forgetDigests()
  })
  const knownChats = await KnownChats.load(memory, { journal })
  const sightings = new Sightings({ knownChats, people: new PeopleObserver(observed), readers })
  return { ...observed, journal, people, knownChats, sightings }
}

/** A keychain in memory in the place of keytar, for tests that run where there is none. */
import { afterAll, beforeEach, vi } from 'vitest'

export interface KeychainDouble {
  /** Secrets by service and account. */
  readonly entries: Map<string, string>
  /** What each of its calls throws instead. */
  fails: Error | null
  /** What is kept in the place of what is written. */
  keeps: (secret: string) => string
  /** Whether a call is answered at all. */
  answers: boolean
}

/** Call at the top of a file; each test begins with an empty keychain that works. */
export function useKeychainDouble(): KeychainDouble {
  const double: KeychainDouble = {
    entries: new Map(),
    fails: null,
    keeps: (secret) => secret,
    answers: true,
  }
  const call = async <T>(run: () => T): Promise<T> => {
    if (double.fails !== null) throw double.fails
    return double.answers ? run() : await new Promise<never>(() => {})
  }
  const keytar = {
    getPassword: (service: string, account: string) =>
      call(() => double.entries.get(`${service} ${account}`) ?? null),
    setPassword: (service: string, account: string, secret: string) =>
      call(() => void double.entries.set(`${service} ${account}`, double.keeps(secret))),
    deletePassword: (service: string, account: string) =>
      call(() => double.entries.delete(`${service} ${account}`)),
  }
  vi.doMock('keytar', () => ({ default: keytar }))
  beforeEach(() => {
    double.entries.clear()
    Object.assign(double, { fails: null, keeps: (secret: string) => secret, answers: true })
  })
  afterAll(() => vi.doUnmock('keytar'))
  return double
}

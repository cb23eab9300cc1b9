import type { Proof } from './spec/statements.ts'

/** Sentences of the specification that no case shows to hold, and why not. */
export const NOT_CHECKED: Partial<Record<Proof, string>> = {
  'code-stable': 'a promise about later versions',
  'no-session': 'says what there is not; every path that is none answers not_found',
  'privacy-shown': 'about what the app shows its members',
  unavailable: 'says what there is not; every path that is none answers not_found',
  'key-v6': 'about phones, not about the service',
  'delete-secret': 'a bot has no way to learn of a secret message, so it has no id to name',
  'delete-race': 'a race within the service that cannot be brought about from outside',
  'limits-read': 'a duty of clients',
  'version-tolerance': 'a duty of clients',
  'limit mediaMaxBytes': 'a choice of clients',
}

import { expect, test } from 'vitest'
import {
  EngineUnavailableError,
  NoResponseError,
  Refusal,
  ServiceError,
  TooManyChatsError,
} from '../../../src/errors.ts'
import { transientErrorOf } from '../../../src/kernel/opening/verdict.ts'

const said = (status: number, code = 'of_some_kind'): ServiceError =>
  new ServiceError({ status, code } as ConstructorParameters<typeof ServiceError>[0])

test.each([
  ['calls of the bot that are used up', said(429), 'busy'],
  ['calls of our own that are used up', new Refusal('postern_busy'), 'busy'],
  ['a service that fails', said(500), 'failed'],
  ['a service under maintenance', said(503), 'failed'],
  ['a service that does not answer', new NoResponseError('postern_upstream_timeout'), 'failed'],
  ['a service that gives no keys of what it calls readable', said(400, 'chat_is_open'), 'failed'],
  ['a service that refuses', said(404), null],
  ['a service that refuses by another status', said(499), null],
  ['another refusal of ours', new Refusal('postern_no_recipient'), null],
  ['too many chats', new TooManyChatsError('postern_store_unwritable'), null],
])('`transientErrorOf` for %s', (_name, error, transientError) => {
  expect(transientErrorOf(error)).toBe(transientError)
})

test.each([
  ['a store that cannot be written', new Refusal('postern_store_unwritable')],
  ['no thread', new EngineUnavailableError('none')],
  ['what nobody foresaw', Object.assign(new Error('odd'), { status: 500, code: 'postern_busy' })],
])('`transientErrorOf` throws for %s', (_name, error) => {
  expect(() => transientErrorOf(error)).toThrow(error)
})

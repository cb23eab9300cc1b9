import { expect, test } from 'vitest'
import { refuseUnsafeProcess } from '../../src/config/sources.ts'
import { refusalOf, sources } from './support.ts'

test('an ordinary process is accepted', () => {
  refuseUnsafeProcess(sources({ nodeOptions: ['--disable-sigusr1', '--max-old-space-size=512'] }))
  refuseUnsafeProcess(
    sources({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '1', NODE_ENV: 'production' } }),
  )
})

test('an unsafe process is refused with every reason at once', () => {
  const error = refusalOf(() =>
    refuseUnsafeProcess(
      sources({
        env: { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_ENV: 'development' },
        nodeOptions: ['--insecure-http-parser', '--tls-keylog=/tmp/keys'],
        inspectorOpen: true,
      }),
    ),
  )
  expect(error.code).toBe('environment')
  expect(error.exitCode).toBe(2)
  for (const reason of [
    'NODE_TLS_REJECT_UNAUTHORIZED=0',
    '--insecure-http-parser',
    '--tls-keylog',
    'inspector',
    'NODE_ENV=development',
  ]) {
    expect(error.message).toContain(reason)
  }
})

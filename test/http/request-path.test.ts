import { expect, it } from 'vitest'
import { pathProblem } from '../../src/http/request-path.ts'

it.each([
  '/',
  '/bot/v1/me',
  '/bot/v1/updates?offset=5&limit=10&timeout=50',
  '/bot/v1/chats/-100123/members/7',
  '/bot/v1/callbacks/a.b..c%20d~/answer',
  '/bot/v1/messages/5?x=..%2F..&y=//&z=%25zz&u=%C3%A9',
  '/bot/v1/resolve/%41lice',
  '/bot/v1/...',
  '/bot/v1/a%25zz',
  '/bot/v1/a%25a',
  '/bot/v1/a;..',
  `/bot/v1/messages/${'5'.repeat(2031)}`,
])('the request target %s is valid', (target) => {
  expect(pathProblem(target, 2048)).toBeNull()
})

it.each<readonly [target: string, problem: string]>([
  ['http://evil.example/bot/v1/me', 'the request target must be a path'],
  ['evil.example:443', 'the request target must be a path'],
  ['*', 'the request target must be a path'],
  ['', 'the request target must be a path'],
  [`/bot/v1/messages/${'5'.repeat(2032)}`, 'the path is longer than 2048 characters'],
  ...[
    '/bot/v1/a\\b',
    '/\\',
    '/bot/v1/me#x',
    '/bot/v1/\u00e9',
    '/bot/v1/a\u0001',
    '/bot/v1/a b',
  ].map((target) => [target, 'the path holds a character that must be escaped'] as const),
  ...['/bot/v1/%zz', '/bot/v1/a%2', '/bot/v1/a%2z', '/bot/v1/me?a=%', '/me?%'].map(
    (target) => [target, 'the path holds a bad escape'] as const,
  ),
  ...['/bot/v1/%ff', '/bot/v1/me?a=%c3', '/bot/v1/me?a=%c3?%a9', '/bot/v1/%ed%a0%80'].map(
    (target) => [target, 'the path is not UTF-8'] as const,
  ),
  ...['/bot/v1/a%00', '/bot/v1/a%0d%0ab', '/bot/v1/a%7f'].map(
    (target) => [target, 'the path holds a control character'] as const,
  ),
  ...['/media/..%2f..%2fbot%2fv1%2ftoken%2frevoke', '/bot/v1/a%2Fb', '/bot/v1/a%5cb'].map(
    (target) => [target, 'the path holds an encoded slash'] as const,
  ),
  ['/bot/v1/%252e%252e/x', 'the path is encoded twice'],
  ['//evil.example/bot/v1/me', 'the path holds an empty segment'],
  ['/bot//v1/me', 'the path holds an empty segment'],
  ...[
    '/..',
    '/.',
    '/bot/v1/../token',
    '/bot/v1/..',
    '/bot/./v1/me',
    '/bot/v1/..;/x',
    '/./x',
    '/bot/v1/messages/%2e%2e',
    '/bot/v1/.%2E/x',
    '/bot/v1/.;a=1;b',
  ].map((target) => [target, 'the path holds a dot segment'] as const),
])('the request target %s is refused: %s', (target, problem) => {
  expect(pathProblem(target, 2048)).toBe(problem)
})

it('`pathProblem` does not repeat the request target', () => {
  expect(pathProblem('/bot/v1/canary/%zz', 2048)).not.toContain('canary')
})
